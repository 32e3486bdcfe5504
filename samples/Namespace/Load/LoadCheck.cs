using System.Collections.Immutable;
using System.Globalization;
using NamespaceSample.Model;
using NamespaceSample.Replay;
using NamespaceSample.Service;

namespace NamespaceSample.Load;

/// <summary>Result of a load.</summary>
/// <param name="Lost">Files and directories that were created, not deleted, and are nowhere.</param>
/// <param name="Twice">Files and directories that are at two paths.</param>
/// <param name="Orphans">Files and directories without a directory above them.</param>
public sealed record LoadReport(int Clients, int Changes, int Lost, int Twice, int Orphans, string? Difference)
{
    public bool IsMatch => Lost == 0 && Twice == 0 && Orphans == 0 && Difference is null;

    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"clients={Clients} changes={Changes} lost={Lost} twice={Twice} orphans={Orphans} "
        + $"match={(IsMatch ? "yes" : "no")}");
}

/// <summary>
/// Compares the namespace with a plain one that was given the same changes in the order of their commit records.
/// </summary>
public static class LoadCheck
{
    public static LoadReport Compare(
        int clients, IReadOnlyCollection<CommittedChange> changes, NamespaceState state)
    {
        var model = new PlainNamespace();
        string? difference = null;
        foreach (CommittedChange change in changes.OrderBy(static change => change.Version))
        {
            try
            {
                model.Apply(change.Change);
            }
            catch (NamespaceException e)
            {
                difference ??= $"{change.Change} took effect at {change.Version}, and should not: {e.Message}";
            }
        }

        KeyValuePair<string, Entry>[] entries = [.. state.Entries];
        HashSet<string> ids = [.. entries.Select(static pair => pair.Value.Id)];
        Dictionary<string, Entry> byPath = entries.GroupBy(static pair => pair.Key, StringComparer.Ordinal)
            .ToDictionary(static group => group.Key, static group => group.First().Value, StringComparer.Ordinal);
        difference ??= FindDifference(model, byPath, state);
        return new LoadReport(
            clients, changes.Count,
            model.Entries.Values.Count(entry => !ids.Contains(entry.Id)),
            entries.Length - ids.Count,
            NamespaceCheck.Orphans(byPath).Count(), difference);
    }

    private static string? FindDifference(
        PlainNamespace model, Dictionary<string, Entry> entries, NamespaceState state)
    {
        foreach (string path in model.Entries.Keys.Union(entries.Keys).Order(StringComparer.Ordinal))
        {
            Entry? expected = model.Entries.GetValueOrDefault(path), found = entries.GetValueOrDefault(path);
            if (expected != found) return $"{path} is {found} and should be {expected}";
        }

        foreach (PartitionState partition in state.Partitions)
        {
            foreach (string path in partition.Entries.Keys)
            {
                if (PartitionMap.IndexOf(path) != partition.Index) return $"{path} is in the other partition";
            }
        }

        var attributes =
            state.Attributes.ToDictionary(static pair => pair.Key, static pair => pair.Value, StringComparer.Ordinal);
        return FindDifference(model.Attributes, attributes);
    }

    private static string? FindDifference(
        IReadOnlyDictionary<string, ImmutableSortedDictionary<string, string>> expected,
        Dictionary<string, ImmutableSortedDictionary<string, string>> found)
    {
        foreach (string id in expected.Keys.Union(found.Keys).Order(StringComparer.Ordinal))
        {
            if (!expected.GetValueOrDefault(id, NamespaceAttributes.None)
                .SequenceEqual(found.GetValueOrDefault(id, NamespaceAttributes.None)))
                return $"the attributes of {id} differ";
        }

        return null;
    }
}
