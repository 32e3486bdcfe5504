namespace Corfu.Hosting;

/// <summary>Whether a cluster takes appends, from the answers of its roles.</summary>
/// <param name="IsServing">Whether the sequencer and every unit that takes entries serve.</param>
/// <param name="Reasons">Why it does not, or what is missing although it does.</param>
public sealed record ClusterVerdict(bool IsServing, ImmutableArray<string> Reasons)
{
    /// <summary>The source's cluster where this one is a mirror: it serves reads and takes no appends.</summary>
    public ClusterId MirrorOf { get; init; }

    public bool AppendsSucceed => IsServing && MirrorOf.IsNone;

    /// <param name="projection">The newest decided one; null when no majority of acceptors answers.</param>
    /// <param name="answerOf">The answer of a role; null if it was not asked.</param>
    public static ClusterVerdict Of(Projection? projection, Func<NodeId, RoleAnswer?> answerOf)
    {
        if (projection is null) return new ClusterVerdict(false, ["no majority of the layout's acceptors answers"]);

        // An append needs the sequencer and every replica of its chain, and the chains take turns.
        var faults = ImmutableArray.CreateBuilder<string>();
        Require("sequencer", projection.Sequencer, faults);
        var active = projection.Active.Chains.SelectMany(chain => chain.Replicas).Select(replica => replica.Unit)
            .ToHashSet();
        foreach (var unit in projection.Units.Where(unit => active.Contains(unit.Id))) Require("unit", unit, faults);
        if (faults.Count > 0) return new ClusterVerdict(false, faults.DrainToImmutable());

        foreach (var unit in projection.Units.Where(unit => !active.Contains(unit.Id))) Require("unit", unit, faults);
        foreach (var unit in projection.Units)
        {
            if (answerOf(unit.Id) is { Warning: { } warning }) faults.Add($"the unit at {unit.Endpoint}: {warning}");
        }

        foreach (var acceptor in projection.Acceptors)
        {
            if (answerOf(acceptor.Id) is { Answers: false })
                faults.Add($"the acceptor at {acceptor.Endpoint} does not answer");
            else if (answerOf(acceptor.Id) is { Refusal: { } refusal })
                faults.Add($"the acceptor at {acceptor.Endpoint} does not vote: {refusal}");
        }

        var joining = projection.Units.Where(unit => IsJoining(projection, unit.Id)).ToList();
        if (joining.Count > 0) faults.Add($"being rebuilt: {string.Join(", ", joining.Select(unit => unit.Endpoint))}");
        var wanted = projection.Segments.Max(segment => segment.Chains.Max(chain => chain.Replicas.Length));
        var fewest = projection.Segments.Min(segment => segment.Chains.Min(chain => chain.FullCount));
        if (fewest < wanted) faults.Add($"some entries have {fewest} full replicas instead of {wanted}");
        return new ClusterVerdict(true, faults.DrainToImmutable()) { MirrorOf = projection.MirrorOf };

        void Require(string role, NodeAddress node, ImmutableArray<string>.Builder into)
        {
            switch (answerOf(node.Id))
            {
                case { Answers: false }:
                    into.Add($"the {role} at {node.Endpoint} does not answer");
                    break;
                case { Refusal: { } refusal }:
                    into.Add($"the {role} at {node.Endpoint} takes no entries: {refusal}");
                    break;
                case { } answer when answer.Epoch < projection.Epoch:
                    into.Add($"the {role} at {node.Endpoint} has not installed {projection.Epoch}");
                    break;
            }
        }
    }

    /// <summary>As an agent sees the cluster: what it has not heard of counts for nothing.</summary>
    public static ClusterVerdict Of(Projection? projection, AgentInfoResponse agent)
    {
        var known = new Dictionary<NodeId, NodeReport>();
        foreach (var node in agent.Nodes) known[node.Address.Id] = node;
        var voters = projection?.Acceptors.Count(acceptor => Answers(acceptor.Id) is not false) ?? 0;
        return Of(voters * 2 > projection?.Acceptors.Length ? projection : null, AnswerOf);

        bool? Answers(NodeId id) => known.GetValueOrDefault(id)?.Health switch
        {
            null or NodeHealth.Unknown => null,
            NodeHealth.Alive or NodeHealth.Slow or NodeHealth.Failed or NodeHealth.Full => true,
            _ => false,
        };

        RoleAnswer? AnswerOf(NodeId id) => Answers(id) is not { } answers
            ? null
            : new RoleAnswer(answers, projection!.Epoch, known[id].Why)
            {
                Refusal = known[id].Health is NodeHealth.Failed or NodeHealth.Full ? known[id].Why : null,
            };
    }

    /// <summary>The verdict in a word: ok, degraded, mirror or down.</summary>
    public string State => !IsServing ? "down" : !AppendsSucceed ? "mirror" : Reasons.IsEmpty ? "ok" : "degraded";

    public override string ToString() => this switch
    {
        { IsServing: false } => $"DOWN: appends do not succeed: {string.Join("; ", Reasons)}",
        { AppendsSucceed: false } => $"MIRROR of {MirrorOf}: takes no appends before 'corfu mirror promote'",
        { Reasons.IsEmpty: false } => $"DEGRADED: appends succeed; {string.Join("; ", Reasons)}",
        _ => "OK: appends succeed",
    };

    internal static bool IsJoining(Projection projection, NodeId unit) =>
        projection.Segments.Any(s => s.Chains.Any(c => c.Replicas.Any(r => r.Unit == unit && r.Joining)));
}
