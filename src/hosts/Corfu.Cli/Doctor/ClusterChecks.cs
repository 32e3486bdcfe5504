using System.Globalization;
using System.Net;

namespace Corfu.Cli;

/// <summary>Checks of a cluster as a whole: verdict, placement, reachability, clocks, builds.</summary>
internal static class ClusterChecks
{
    private const string Cluster = "cluster";

    private static readonly TimeSpan ClockAdvice = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan ClockFault = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan MixedLimit = TimeSpan.FromHours(24);

    public static IEnumerable<Finding> Of(ClusterFacts facts) =>
    [
        VerdictOf(facts), AutomationOf(facts), .. facts.Held.Select(held => Finding.Advice("held-back", Cluster, held)),
        .. SparesOf(facts), .. AcceptorsOf(facts), .. ChainsOf(facts), .. ReachOf(facts), .. ClocksOf(facts),
        .. BuildsOf(facts),
    ];

    private static Finding VerdictOf(ClusterFacts facts) => facts.Verdict switch
    {
        { IsServing: false } => Finding.Fault("verdict", Cluster, facts.Verdict.ToString()),
        { Reasons.IsEmpty: false } => Finding.Advice("verdict", Cluster, facts.Verdict.ToString()),
        _ => Finding.Ok("verdict", Cluster, facts.Verdict.ToString()),
    };

    private static Finding AutomationOf(ClusterFacts facts) => facts.IsAutomatic switch
    {
        true => Finding.Ok("automation", Cluster, "agents replace what fails"),
        false => Finding.Advice("automation", Cluster,
            "off: a node that fails stays in its chains; 'corfu reconfigure auto --connect C on'"),
        null => Finding.Unseen("automation", Cluster, "no agent answers"),
    };

    private static IEnumerable<Finding> SparesOf(ClusterFacts facts)
    {
        if (facts.Projection is not { } projection) yield break;
        var spares = Waiting(facts, NodeDuty.Spare, NodeRole.Unit);
        var replicas = projection.Active.Chains.Max(chain => chain.Replicas.Length);
        var left = projection.Active.Chains.SelectMany(chain => chain.Replicas).Select(replica => replica.Unit)
            .Distinct().Count() - 1;
        const string Add = "add one: 'corfu node init --join HOST:PORT', or 'corfu cluster add-spare --dir D'";
        if (spares > 0) yield return Finding.Ok("spares", Cluster, $"{spares} units wait to replace one that fails");
        else if (left < replicas)
            yield return Finding.Fault("spares", Cluster,
                $"no spare, and after the loss of a unit {left} would remain for {replicas} replicas: {Add}");
        else
            yield return Finding.Advice("spares", Cluster,
                $"no spare: after the loss of a unit entries stay with fewer replicas until it returns; {Add}");

        var standbys = Waiting(facts, NodeDuty.Standby, NodeRole.Sequencer);
        yield return standbys > 0
            ? Finding.Ok("standby", Cluster, $"{standbys} sequencers stand by")
            : Finding.Fault("standby", Cluster,
                "no sequencer stands by: appends stop with the one that serves; give another node the role, or "
                + "'corfu cluster add-sequencer --dir D'");
    }

    private static int Waiting(ClusterFacts facts, NodeDuty duty, NodeRole role) => facts.Nodes
        .Where(node => node.Duty == duty && node.Role == role && node.Health == NodeHealth.Alive)
        .Select(node => node.Address.Id).Distinct().Count();

    private static IEnumerable<Finding> AcceptorsOf(ClusterFacts facts)
    {
        if (facts.Projection is not { } projection) yield break;
        var count = projection.Acceptors.Length;
        const string Set = "'corfu reconfigure set-acceptors --connect C HOST:PORT...' with an odd number, each on a "
            + "host of its own";
        // A projection's acceptors are an odd number.
        if (count == 1)
            yield return Lone(facts, "acceptors", $"one acceptor: without it nothing can be reconfigured; {Set}");
        else yield return Finding.Ok("acceptors", Cluster, $"{count} acceptors bear {count / 2} failures");

        if (count > 1 && projection.Acceptors.GroupBy(acceptor => acceptor.Endpoint.Host)
            .FirstOrDefault(host => host.Count() * 2 > count) is { } most)
            yield return Lone(facts, "acceptor-hosts",
                $"{most.Count()} of {count} acceptors are on {most.Key}: without that host nothing can be "
                + $"reconfigured; {Set}");
        else yield return Finding.Ok("acceptor-hosts", Cluster, "no host holds a majority of the acceptors");
    }

    private static IEnumerable<Finding> ChainsOf(ClusterFacts facts)
    {
        if (facts.Projection is not { } projection) yield break;
        var alone = projection.Segments.SelectMany(segment => segment.Chains)
            .Select(chain => chain.FullUnits.Select(unit => projection.AddressOf(unit).Endpoint.Host))
            .Select(hosts => hosts.Distinct().ToList())
            .Where(hosts => hosts.Count == 1).Select(hosts => hosts[0]).Distinct().Order().ToList();
        yield return alone.Count == 0
            ? Finding.Ok("chain-hosts", Cluster, "every chain is on two hosts or more")
            : Lone(facts, "chain-hosts",
                $"{string.Join(", ", alone)} holds a chain alone: its entries are lost with that host; add a unit "
                + "elsewhere, or raise the replicas ('corfu reconfigure set-replicas --connect C N')");
    }

    // A cluster for development has one machine and cannot do better.
    private static Finding Lone(ClusterFacts facts, string check, string text)
    {
        var isLocal = facts.Members.All(member => member.Endpoint.Host == "localhost"
            || (IPAddress.TryParse(member.Endpoint.Host, out var address) && IPAddress.IsLoopback(address)));
        return isLocal
            ? Finding.Advice(check, Cluster, $"all nodes are on this machine: {text}")
            : Finding.Fault(check, Cluster, text);
    }

    private static IEnumerable<Finding> ReachOf(ClusterFacts facts)
    {
        foreach (var silent in facts.Members.Where(member => member.Silence is not null))
            yield return Finding.Fault("ports", silent.Name,
                $"does not answer this command: {silent.Silence}; start it, or mend the network in between");
        var cut = facts.Reach.Where(fact => fact.Answers == false).ToList();
        foreach (var fact in cut)
            yield return Finding.Fault("ports", NameOf(facts, fact.From),
                $"does not reach {NameOf(facts, fact.To)}: {fact.Why}; open that port between the two hosts");
        foreach (var fact in facts.Reach.Where(fact => fact.Answers is null))
            yield return Finding.Unseen("ports", NameOf(facts, fact.From),
                $"whether it reaches {NameOf(facts, fact.To)}: {fact.Why}");
        var reached = facts.Reach.Count(fact => fact.Answers == true);
        if (cut.Count == 0 && reached > 0)
            yield return Finding.Ok("ports", Cluster, $"{reached} ways from node to node are open");
    }

    private static string NameOf(ClusterFacts facts, NodeEndpoint endpoint) =>
        facts.Members.FirstOrDefault(member => member.Endpoint == endpoint)?.Name ?? endpoint.ToString();

    // The doctor's own clock does not count: the nodes' middle one is the measure.
    private static IEnumerable<Finding> ClocksOf(ClusterFacts facts)
    {
        var clocks = facts.Members.Where(member => member.Process is not null)
            .OrderBy(member => member.ClockOffset).ToList();
        if (clocks.Count == 0) yield break;
        var middle = clocks[clocks.Count / 2].ClockOffset;
        var sound = true;
        foreach (var member in clocks)
        {
            var off = (member.ClockOffset - middle).Duration() - member.ClockError;
            if (off <= ClockAdvice) continue;
            sound = false;
            var text = string.Create(CultureInfo.InvariantCulture,
                $"its clock is {(member.ClockOffset - middle).TotalSeconds:+0.0;-0.0} s off the others': start the ")
                + "time service of that machine; certificates bear 5 minutes";
            yield return off > ClockFault
                ? Finding.Fault("clock", member.Name, text)
                : Finding.Advice("clock", member.Name, text);
        }

        if (sound)
            yield return Finding.Ok("clock", Cluster, $"the clocks of {clocks.Count} nodes agree within 100 ms");
        if (middle.Duration() > ClockFault)
            yield return Finding.Advice("clock", "this machine", string.Create(CultureInfo.InvariantCulture,
                $"its clock is {-middle.TotalSeconds:+0.0;-0.0} s off the nodes'"));
    }

    // The hash of a build's sources is cut to what tells two apart.
    private static string ShortOf(string build) =>
        build.IndexOf('+') is > 0 and var plus && build.Length > plus + 9 ? build[..(plus + 9)] : build;

    private static IEnumerable<Finding> BuildsOf(ClusterFacts facts)
    {
        foreach (var old in facts.Members.Where(member => member.Unreported is not null))
            yield return Finding.Unseen("process", old.Name, old.Unreported!);
        var known = facts.Members.Where(member => member.Process is not null).ToList();
        var builds = known.GroupBy(member => ShortOf(member.Process!.Build))
            .OrderBy(build => build.Key, StringComparer.Ordinal).ToList();
        if (builds.Count == 0) yield break;
        if (builds.Count == 1)
        {
            yield return Finding.Ok("versions", Cluster, $"{known.Count} nodes run {builds[0].Key}");
            yield break;
        }

        // Two builds run together from the first start of the later one on.
        var since = builds.Select(build => build.Min(member => member.Process!.Started)).Order().ElementAt(1);
        var text = string.Create(CultureInfo.InvariantCulture,
            $"mixed since {since:yyyy-MM-dd HH:mm}Z: ")
            + string.Join("; ", builds.Select(
                build => $"{build.Key} on {string.Join(", ", build.Select(member => member.Name))}"))
            + ". Finish the upgrade, or go back";
        yield return facts.Now - since > MixedLimit
            ? Finding.Fault("versions", Cluster, text)
            : Finding.Advice("versions", Cluster, text);
    }
}
