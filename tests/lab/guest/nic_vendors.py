# SPDX-License-Identifier: Apache-2.0
"""Each series' name and unit in a vendor's driver, from docs/reference/metrics.md, which is generated from the daemon's own tables.

Only hw_counters and ethtool's statistics: the lab's NIC has no others.
"""
import re

UNITS = {"": 1, "µs": 1e6, "%": 100, "bits": 8}
# The page's tables, and their names in the lab's NIC.
PLACES = {"### hw_counters of each RDMA driver": "hw", "### ethtool statistics of the netdev's driver": "eth"}
NAME = re.compile(r"`([^`]+)`(?: ³²)?(?: \(([^)]+)\))?")


class Vendor:
    """One driver's names; `rdma` and `netdev` are its columns in the two tables."""

    def __init__(self, page, rdma, netdev):
        self.names = {}  # series, '#' for a number: (place, names, units in one of the series')
        place = column = None
        for line in page.splitlines():
            if line.startswith("#"):
                place, column = PLACES.get(line), None
            elif place and line.startswith("| series"):
                heads = cells(line)
                column = heads.index(rdma if place == "hw" else netdev)
            elif column and line.startswith("| `"):
                row = cells(line)
                self.add(place, row[0].strip("`"), row[column])

    def add(self, place, series, cell):
        """Of names joined by "else" the first is used; those of ethtool take precedence."""
        found = NAME.findall(cell.split(", else ")[0])
        if found and "(device)" not in cell:
            self.names[series] = place, [name for name, _ in found], UNITS[found[0][1]]

    def find(self, series):
        """(place, names, units) of a series with its number; None: the driver does not count it."""
        if series in self.names:
            return self.names[series]
        number = re.search(r'(priority|lane)="(\d+)"', series)
        entry = number and self.names.get(series.replace(number.group(0), f'{number.group(1)}="#"'))
        return entry and (entry[0], [name.replace("#", number.group(2)) for name in entry[1]], entry[2])


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def counters(vendor, values):
    """{(place, name): value in the driver's units} of values by series, and the series that the driver cannot show.

    A series may be the sum of several names, some of which are series of their own: the rest goes to the first that is not.
    """
    found, sums, lacks = {}, [], []
    for series, value in values.items():
        entry = vendor.find(series)
        if not entry:
            lacks.append(series)
        elif len(entry[1]) > 1:
            sums.append((entry, value))
        else:
            found[entry[0], entry[1][0]] = value * entry[2]
    for (place, names, units), value in sums:
        free = [n for n in names if (place, n) not in found]
        rest = value * units - sum(found.get((place, n), 0) for n in names)
        for name in free:
            found[place, name] = rest
            rest = 0
    return found, lacks
