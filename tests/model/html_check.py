#!/usr/bin/env python3
"""html_check.py FILE - the page holds together: well-formed, ids unique, links inside the page resolve,
nothing is fetched, each figure has a title and a description, and no number was lost (nan, inf)."""
import re
import sys
import xml.etree.ElementTree as tree

text = open(sys.argv[1], encoding="utf-8").read()
faults = []

if not text.startswith("<!DOCTYPE html>\n"):
    faults.append("no doctype")
root = tree.fromstring(text.split("\n", 1)[1])

ids = [e.get("id") for e in root.iter() if e.get("id")]
for name in sorted({i for i in ids if ids.count(i) > 1}) if len(ids) != len(set(ids)) else []:
    faults.append(f"id {name} is there twice")
known = set(ids)
for element in root.iter():
    for attribute in ("href", "src", "action", "data", "poster"):
        target = element.get(attribute)
        if target is None:
            continue
        if not target.startswith("#"):
            faults.append(f"{attribute} {target} leaves the page")
        elif target[1:] not in known:
            faults.append(f"{attribute} {target} leads nowhere")
    for name in (element.get("aria-labelledby") or "").split():
        if name not in known:
            faults.append(f"aria-labelledby {name} leads nowhere")
if re.search(r"@import|url\(|<script|<link|<img|<iframe", text):
    faults.append("something would be fetched or run")

space = "{http://www.w3.org/1999/xhtml}"
for svg in root.iter(space + "svg"):
    if svg.find(space + "title") is None or svg.find(space + "desc") is None:
        faults.append("a figure without title or description")
    for element in svg.iter():
        for name, value in element.attrib.items():
            if re.search(r"\b(nan|inf)\b", value):
                faults.append(f"{name}={value} in a figure")
        if element.text and re.search(r"\b(nan|inf)\b", element.text):
            faults.append(f"'{element.text}' in a figure")

for fault in faults[:20]:
    print(f"FAILED: {fault}")
print(f"html: {len(ids)} ids, {len(list(root.iter(space + 'svg')))} figures, {len(faults)} faults")
sys.exit(1 if faults else 0)
