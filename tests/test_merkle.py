"""The Merkle tree against the published Certificate Transparency vectors and against RFC 6962's own definition."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordari.audit.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

# The eight entries, the roots over the first 1…8 of them and the proofs that Certificate Transparency publishes.
ENTRIES = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
LEAVES = [leaf_hash(bytes.fromhex(entry)) for entry in ENTRIES]
ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
A = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
B = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
C = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
D = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
E = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
F = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
G = "0298d122906dcfc10892cb53a73992fc5b9f493ea4c9badb27b791b4127a7fe7"
H = "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f"
INCLUSION = [
    (0, 1, []),
    (0, 8, [A, B, C]),
    (3, 8, [G, ROOTS[1], C]),
    (5, 8, [F, E, ROOTS[3]]),
    (7, 8, [H, D, ROOTS[3]]),
    (2, 3, [ROOTS[1]]),
    (1, 5, [ROOTS[0], B, F]),
]
CONSISTENCY = [(1, 1, []), (1, 8, [A, B, C]), (6, 8, [D, E, ROOTS[3]]), (2, 5, [B, F])]


def by_definition(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962 section 2.1, word for word."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return node_hash(by_definition(leaves[:k]), by_definition(leaves[k:]))


trees = st.lists(st.binary(max_size=4).map(leaf_hash), min_size=1, max_size=70)


@pytest.mark.parametrize("size", range(1, 9))
def test_the_published_roots_come_out(size: int) -> None:
    assert root_of(LEAVES[:size]).hex() == ROOTS[size - 1]


def test_an_empty_tree_has_the_hash_of_nothing() -> None:
    assert root_of([]) == EMPTY_ROOT == hashlib.sha256(b"").digest()


@pytest.mark.parametrize(("index", "size", "path"), INCLUSION)
def test_the_published_audit_paths_come_out_and_verify(index: int, size: int, path: list[str]) -> None:
    proof = inclusion_proof(LEAVES[:size], index)
    assert [node.hex() for node in proof] == path
    assert verify_inclusion(LEAVES[index], index, size, proof, bytes.fromhex(ROOTS[size - 1]))


@pytest.mark.parametrize(("old", "new", "path"), CONSISTENCY)
def test_the_published_consistency_proofs_come_out_and_verify(old: int, new: int, path: list[str]) -> None:
    proof = consistency_proof(LEAVES[:new], old)
    assert [node.hex() for node in proof] == path
    assert verify_consistency(old, new, bytes.fromhex(ROOTS[old - 1]), bytes.fromhex(ROOTS[new - 1]), proof)


@given(trees)
def test_a_grown_frontier_has_the_root_of_the_definition(leaves: list[bytes]) -> None:
    frontier = Frontier()
    for count, leaf in enumerate(leaves, 1):
        frontier = frontier.append(leaf)
        assert len(frontier.nodes) == count.bit_count()
    assert frontier.root() == by_definition(leaves)


@given(trees, st.data())
def test_every_leaf_can_be_proved_and_no_other_leaf_in_its_place(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    proof, root = inclusion_proof(leaves, index), by_definition(leaves)
    assert verify_inclusion(leaves[index], index, len(leaves), proof, root)
    assert not verify_inclusion(leaf_hash(b"another entry"), index, len(leaves), proof, root)
    assert not verify_inclusion(leaves[index], index, len(leaves), (*proof, root), root)
    assert not verify_inclusion(leaves[index], index, len(leaves), proof, leaf_hash(b"another root"))


@given(trees, st.data())
def test_a_longer_log_proves_its_past_and_a_rewritten_one_cannot(leaves: list[bytes], data: st.DataObject) -> None:
    old = data.draw(st.integers(1, len(leaves)))
    proof = consistency_proof(leaves, old)
    before, after = by_definition(leaves[:old]), by_definition(leaves)
    assert verify_consistency(old, len(leaves), before, after, proof)
    changed = data.draw(st.integers(0, old - 1))
    forged = [*leaves[:changed], leaf_hash(b"what it should have said"), *leaves[changed + 1 :]]
    assert not verify_consistency(old, len(leaves), before, by_definition(forged), consistency_proof(forged, old))


@given(trees, st.data())
def test_a_proof_with_one_bit_turned_proves_nothing(leaves: list[bytes], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    proof = list(inclusion_proof(leaves, index))
    if not proof:
        return
    place = data.draw(st.integers(0, len(proof) - 1))
    proof[place] = bytes([proof[place][0] ^ 1]) + proof[place][1:]
    assert not verify_inclusion(leaves[index], index, len(leaves), proof, by_definition(leaves))


def test_a_tree_of_nothing_is_a_prefix_of_every_tree_but_only_with_its_own_root() -> None:
    root = root_of(LEAVES)
    assert verify_consistency(0, 8, EMPTY_ROOT, root, ())
    assert not verify_consistency(0, 8, root, root, ())
    assert not verify_consistency(8, 6, root, root_of(LEAVES[:6]), ())
    assert not verify_consistency(6, 8, root_of(LEAVES[:6]), root, ())


@pytest.mark.parametrize("index", [-1, 8])
def test_there_is_no_proof_of_a_leaf_outside_the_tree(index: int) -> None:
    with pytest.raises(IndexError, match="no leaf"):
        inclusion_proof(LEAVES, index)
    assert not verify_inclusion(LEAVES[0], index, 8, (), root_of(LEAVES))


@pytest.mark.parametrize("old", [0, 9])
def test_there_is_no_consistency_proof_of_a_tree_that_never_was(old: int) -> None:
    with pytest.raises(IndexError, match="no tree"):
        consistency_proof(LEAVES, old)


def test_a_frontier_that_does_not_fit_its_size_is_refused() -> None:
    with pytest.raises(ValueError, match="subtrees"):
        Frontier(3, (LEAVES[0],))


def test_an_inner_node_cannot_pass_for_an_entry() -> None:
    assert leaf_hash(LEAVES[0] + LEAVES[1]) != node_hash(LEAVES[0], LEAVES[1])
