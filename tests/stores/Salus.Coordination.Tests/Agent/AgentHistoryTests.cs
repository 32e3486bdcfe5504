using CsCheck;

namespace Salus.Coordination.Tests.Agent;

/// <summary>Random histories of clusters: what an agent may never do, whatever it sees.</summary>
public sealed class AgentHistoryTests
{
    [Fact]
    public void Agent_keeps_copies_and_limits_and_brings_every_region_back()
    {
        var (replacements, expulsions, recoveries) = (0, 0, 0);
        Gen.Int[1, 1_000_000].Sample(seed =>
        {
            var history = new ClusterHistory(seed, nodes: 5 + (seed % 4), regions: 1 + (seed % 3), domains: 4);
            history.Live(200);
            history.Heal();
            history.RequireWhole();
            Interlocked.Add(ref replacements, history.Replacements);
            Interlocked.Add(ref expulsions, history.Expulsions);
            Interlocked.Add(ref recoveries, history.Recoveries);
        }, iter: 60, threads: 2);
        // The histories are about something.
        Assert.True(replacements > 100 && expulsions > 5 && recoveries > 100,
            $"{replacements} replacements, {expulsions} expulsions, {recoveries} recoveries");
    }
}
