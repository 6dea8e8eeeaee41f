"""collection - all cases: families of mistakes, pairs of them, and correct outputs."""
import rope

FAMILIES = (rope,)


def cases(part=1):
    """Every case; with part n those of every n-th kind, and every n-th correct output."""
    made = [case for family in FAMILIES for case in family.cases()]
    order = {}
    for case in made:
        order.setdefault(case.kind.split(" [")[0] if case.words is not None else case.kind, len(order))
    return [case for case in made if order[case.kind.split(" [")[0] if case.words is not None else case.kind] % part == 0]
