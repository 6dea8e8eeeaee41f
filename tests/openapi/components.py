"""components.py - shared parameters and schemas, and how they get their names.

A component is named as its row is, `base`, where that is free. A row that has but one choice is named with it,
`dtype_int32`. Any other is named with the resource, or the family, that has it: `height_sinusoidal_grid`. A name that
the document gives today stays while it is true. So no name depends on an order, and a new resource renames nothing.
No two names differ by case or underscores only, since generators of clients drop these.
"""
import collections
import json
import os
import re


def words_of(path):
    """/v1/rope/scaled-base: rope, scaled, base"""
    return re.findall(r"[a-z0-9]+", path[len("/v1/"):])


def fold(key):
    return key.replace("_", "").lower()


class Group:
    """All uses of one content under one row's name."""

    def __init__(self, row, content):
        self.row, self.content = {**row, "name": row.get("component", row["name"])}, content
        self.takers, self.today, self.like = [], collections.Counter(), []
        self.key, self.reference = None, {}

    def true_names(self, namesakes):
        """The names that are true of it, the best first; `namesakes` are the groups of the same row's name."""
        name = self.row["name"]
        if self.row["type"] == "string" and len(self.row["choices"]) == 1:
            return [f"{name}_{self.row['choices'][0]}"]
        family = os.path.commonprefix(self.takers)
        strangers = [taker for group in namesakes if group is not self for taker in group.takers]
        alone = family and all(taker[:len(family)] != family for taker in strangers)
        families = [taker[:n] for taker in self.takers for n in range(1, len(taker))]
        scopes = [*([family] if alone else []), *self.takers, *families]
        return [*self.like, name, *(f"{name}_{'_'.join(scope)}" for scope in scopes)]


class Components:
    """The components of one kind: those that people wrote, and one for each content of the rows."""

    def __init__(self, kind, by_hand):
        self.kind, self.by_hand, self.groups = kind, by_hand, {}

    def use(self, row, content, path, today, like=None):
        """
        The reference that the resource at `path` has for a row; settle fills it. `today`: what the document calls the
        component. `like`: what another kind calls it.
        """
        group = self.groups.setdefault((row.get("component", row["name"]), json.dumps(content, sort_keys=True)), Group(row, content))
        group.takers.append(words_of(path))
        group.today[today] += 1
        if like and like not in group.like:
            group.like.append(like)
        return group.reference

    def claims(self):
        """(group, name) in the order of their right: names of today by how many use them, then the best names."""
        groups = sorted(self.groups.values(), key=lambda group: -len(group.takers))
        namesakes = collections.defaultdict(list)
        for group in groups:
            namesakes[group.row["name"]].append(group)
        names = [(group, key) for group in groups for key in group.true_names(namesakes[group.row["name"]])]
        today = [(group, key) for group, key in names if group.today[key] > 0]
        return sorted(today, key=lambda claim: -claim[0].today[claim[1]]) + names

    def settle(self):
        """Name every content; returns all components, those of rows in order of name."""
        taken = {fold(key) for key in self.by_hand}
        for group, key in self.claims():
            if group.key is None and fold(key) not in taken:
                taken.add(fold(key))
                group.key = key
                group.reference["$ref"] = f"#/components/{self.kind}/{key}"
        of_rows = sorted(self.groups.values(), key=lambda group: group.key)
        return {**self.by_hand, **{group.key: group.content for group in of_rows}}
