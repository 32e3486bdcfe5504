namespace Corfu.Cli;

/// <summary>Conditions for putting another build in place, with this tool as the new build.</summary>
internal static class UpgradeChecks
{
    private const string Check = "upgrade";

    public static IEnumerable<Finding> Of(ClusterFacts? facts, ImmutableArray<NodeFolder> folders,
        IReadOnlyList<Finding> sofar)
    {
        if (facts is not null)
            foreach (var finding in Of(facts)) yield return finding;
        foreach (var folder in folders)
        {
            var unread = folder.UnreadFormats();
            yield return unread.IsEmpty
                ? Finding.Ok(Check, folder.Path, "this build reads its formats")
                : Finding.Fault(Check, folder.Path, $"{string.Join("; ", unread)}: take a build that reads them");
        }

        if (folders.IsEmpty)
            yield return Finding.Unseen(Check, "cluster",
                "formats on disk: run 'corfu doctor --dir NODE --before-upgrade' on each machine, with the new build");
        yield return sofar.Any(finding => finding is { Check: "backup", Level: FindingLevel.Ok })
            ? Finding.Ok(Check, "cluster", "there is a fresh backup")
            : Finding.Fault(Check, "cluster", "no fresh backup is known: make one, and name its folder with --backup");
    }

    private static IEnumerable<Finding> Of(ClusterFacts facts)
    {
        var joining = facts.Projection is { } projection
            ? projection.Segments.SelectMany(segment => segment.Chains).SelectMany(chain => chain.Replicas)
                .Where(replica => replica.Joining).Select(replica => projection.AddressOf(replica.Unit).Endpoint)
                .Distinct().ToList()
            : [];
        yield return joining.Count == 0
            ? Finding.Ok(Check, "cluster", "nothing is joining")
            : Finding.Fault(Check, "cluster",
                $"being rebuilt: {string.Join(", ", joining)}; wait until 'corfu status' says OK");
        foreach (var member in facts.Members)
        {
            if (member.Process is not { } process) continue;
            var common = WireProtocol.Current.Settle(process.LowestProtocol, process.HighestProtocol);
            var both = $"{process.Build} speaks versions {process.LowestProtocol} to {process.HighestProtocol}, this "
                + $"build {WireProtocol.Current.Lowest} to {WireProtocol.Current.Highest}";
            yield return common is null
                ? Finding.Fault(Check, member.Name, $"{both}: take a build in between first")
                : Finding.Ok(Check, member.Name, $"{both}: they settle on {common}");
        }
    }
}
