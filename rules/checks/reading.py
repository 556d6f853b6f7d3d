"""What is found while rule files are read and held against their lock; `recordari rules lint` lists all of it."""

from __future__ import annotations

from .base import Reported


class NotRead(Reported):
    """A rule file can be read: it is there, ends in .yaml and is UTF-8."""

    id = "not-read"
    zh = "规则文件可读取：文件存在，以 .yaml 结尾，编码为 UTF-8。"
    bad = "# my_rules/budget.yml: it would be overlooked\n"
    good = "# my_rules/budget.yaml\n"


class NotYaml(Reported):
    """A rule file is YAML 1.2 without tags, merge keys and second documents; it says every key once."""

    id = "not-yaml"
    zh = "规则文件是 YAML 1.2：不用标签、合并键和第二个文档，同一个键只写一次，缩进用空格，标点用半角。"
    bad = "kind: vocabulary\nwords: [预算， 经费\n"
    good = "kind: vocabulary\nwords: [预算, 经费]\n"


class UnknownKey(Reported):
    """Every key is one that the kind of file knows: a key misspelt would be a rule that is not applied."""

    id = "unknown-key"
    zh = "每个键都是该类文件认识的键：拼错的键等于没有写。"
    bad = "kind: slot\ncardinalty: many\n"
    good = "kind: slot\ncardinality: many\n"


class MissingKey(Reported):
    """The keys without a default are there."""

    id = "missing-key"
    zh = "没有默认值的键必须写出。"
    bad = "kind: slot\nsay: {zh: '{value}'}\n"
    good = "kind: slot\nsay: {zh: '{value}', en: '{value}'}\n"


class UnknownKind(Reported):
    """`kind` is one of the kinds of rule file."""

    id = "unknown-kind"
    zh = "`kind` 是规则文件的种类之一。"
    bad = "kind: captur\n"
    good = "kind: capture\n"


class WrongValue(Reported):
    """Every value has the type and is one of the values that its key allows."""

    id = "wrong-value"
    zh = "每个值的类型正确，并且是该键允许的值；布尔值写 true 或 false，不写 yes、no。"
    bad = "kind: slot\nneeds_approval: no\n"
    good = "kind: slot\nneeds_approval: false\n"


class TemplateField(Reported):
    """A template says {value} and knows only entity, qualifier, value and said_at."""

    id = "template-field"
    zh = "模板必须有 {value}，只认识 entity、qualifier、value、said_at。"
    bad = "kind: slot\nsay: {en: '{person} pays {value}', zh: '{value}'}\n"
    good = "kind: slot\nsay: {en: '{entity} pays {value}', zh: '{value}'}\n"


class PatternNotLinear(Reported):
    """A pattern is RE2, so that its time grows with the text and no faster: no look-around, no back-reference."""

    id = "pattern-not-linear"
    zh = "正则式必须是 RE2：耗时随文本线性增长，没有环视和反向引用。"
    bad = "kind: gate\npatterns: ['hello(?= there)']\n"
    good = "kind: gate\npatterns: ['hello there']\n"


class UnknownSlot(Reported):
    """A slot that a capture or a policy names has a file."""

    id = "unknown-slot"
    zh = "采集规则和策略提到的槽位必须有文件。"
    bad = "slot: buget\n"
    good = "slot: budget\n"


class UnknownLexicon(Reported):
    """A vocabulary that a rule names has a file."""

    id = "unknown-lexicon"
    zh = "规则提到的词表必须有文件。"
    bad = "trigger: {lexicon: words.buget}\n"
    good = "trigger: {lexicon: words.budget}\n"


class IdReused(Reported):
    """One id and version say one thing, one slot has one file, and an id keeps its kind for ever."""

    id = "id-reused"
    zh = "同一 id 和版本只有一种内容，一个槽位只有一个文件，id 的种类永不改变。"
    bad = "priority: 61\n---\npriority: 62\n"
    good = "priority: 61\n---\nid: capture.budget_late\npriority: 62\n"


class DaysWithoutEffect(Reported):
    """`effective` stands where it counts, on gates; other kinds would promise a day that nobody keeps."""

    id = "days-without-effect"
    zh = "`effective` 只对门控有效；写在其他种类上等于没有人遵守的承诺。"
    bad = "effective: {until: 2026-12-31}\n"
    good = "kind: gate\neffective: {until: 2026-12-31}\n"


class ChangedSilently(Reported):
    """What a rule says changes only with its version; the lock of the folder remembers what each version said."""

    id = "changed-silently"
    zh = "规则内容改变，版本必须升高；目录的锁文件记得每个版本的内容。"
    bad = "# the lock says: version 1 with another priority\nversion: 1\npriority: 65\n"
    good = "version: 2\npriority: 65\nchangelog: [{version: 2, note: Goes before the rule for amounts.}]\n"


class VersionLowered(Reported):
    """Versions only grow."""

    id = "version-lowered"
    zh = "版本只升不降。"
    bad = "# the lock says: version 3\nversion: 2\n"
    good = "version: 4\nchangelog: [{version: 4, note: As it was in version 2.}]\n"


class Deleted(Reported):
    """A rule that was published is retired, not deleted: decisions still name it."""

    id = "deleted"
    zh = "已发布的规则只能停用（retired），不能删除：决定里还引用着它。"
    bad = "# the lock names capture.budget, and no file has it any more\n"
    good = "version: 2\nstatus: retired\nchangelog: [{version: 2, note: Taken out.}]\n"


class LockBehind(Reported):
    """The lock of a folder names every rule with its version; `recordari rules lock FOLDER` writes it."""

    id = "lock-behind"
    zh = "目录的锁文件记有每条规则及其版本；用 `recordari rules lock 目录` 写入。"
    bad = "# rules.lock.json says: version 1\nversion: 2\n"
    good = "# rules.lock.json says: version 2\nversion: 2\n"
