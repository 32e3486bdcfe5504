namespace Corfu.Cli;

/// <summary>A running cluster, as JSON.</summary>
/// <param name="Verdict">OK, DEGRADED, DOWN or MIRROR, and why.</param>
/// <param name="Rate">Positions granted per second since the query before; null at the first.</param>
/// <param name="Automatic">Whether agents reconfigure on their own; null when none answers.</param>
/// <param name="HeldBytes">Bytes of the log's entries on all units.</param>
/// <param name="Trim">The claims that keep the log from being trimmed; null in a log without objects and
/// claims.</param>
/// <param name="Held">Changes that agents would make and may not, with the reasons.</param>
internal sealed record StatusJson(string Verdict, bool AppendsSucceed, ProjectionJson Projection, int Segments,
    long TrimMark, long? Tail, double? Rate, bool? Automatic, IReadOnlyList<string> Held, IReadOnlyList<WorkJson> Work,
    IReadOnlyList<HealthJson> Nodes, long HeldBytes, TrimJson? Trim);

/// <param name="Agent">The agent that works at it.</param>
/// <param name="PassedOn">The job made no progress there, and the next agent may work at it.</param>
internal sealed record WorkJson(string Agent, string What, long Done, long Total, long Bytes, double ElapsedSeconds,
    double? RemainingSeconds, bool PassedOn, string Why)
{
    public static WorkJson Of(NodeAddress agent, WorkReport work) => new(
        agent.Endpoint.ToString(), work.What, work.Done, work.Total, work.Bytes, work.ElapsedMilliseconds / 1000.0,
        work.Done == 0 ? null : work.ElapsedMilliseconds / 1000.0 * (work.Total - work.Done) / work.Done,
        work.IsPassedOn, work.Why);
}

internal sealed record HealthJson(string Endpoint, string Role, string Id, string Duty, string Health, string Why)
{
    public static HealthJson Of(NodeReport node, Projection projection, RoleAnswer answer)
    {
        // No agent may know the role yet, and it answers the tool.
        var health = node.Health == NodeHealth.Unknown && answer.Answers ? NodeHealth.Alive : node.Health;
        string[] why = [node.Why, answer.Detail];
        return new HealthJson(node.Address.Endpoint.ToString(), node.Role.ToString().ToLowerInvariant(),
            node.Address.Id.ToString(), NodeRoles.Log.DutyIn(projection, node.Role, node.Address.Id, answer),
            health.ToString().ToLowerInvariant(), string.Join("; ", why.Where(text => text.Length > 0)));
    }
}

/// <summary>An epoch of the past.</summary>
/// <param name="ProposedBy">The certificate of the proposer; absent where no audit names it.</param>
internal sealed record EpochJson(DateTimeOffset? ProposedAt, ProjectionJson Projection, string? ProposedBy)
{
    public static EpochJson Of(Projection projection, string? proposedBy) =>
        new(projection.ProposedAt, ProjectionJson.Of(projection), proposedBy);
}
