using System.Text.Json;
using Corfu.Agent;

namespace Corfu.Cli;

/// <summary><c>corfu status</c>.</summary>
internal static class StatusCommand
{
    private const string Description =
        """
        Show a running cluster, through any of its nodes. The first line is the verdict: OK, DEGRADED (appends succeed
        and something is missing), DOWN (appends do not succeed) or MIRROR, and why. Then epoch, tail, chains, long
        work, and how each node is and why. With --watch again every second, until Ctrl-C. Exit code 0 if appends
        succeed (OK, DEGRADED), else 1.
        """;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    // A decided epoch is installed within moments: meanwhile its nodes do not serve it, and the cluster is not down.
    private static readonly TimeSpan Settling = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan SettlingInterval = TimeSpan.FromMilliseconds(100);

    public static Command Create()
    {
        var connect = CommonOptions.ConnectOption();
        var json = CommonOptions.JsonOption();
        var watch = new Option<bool>("--watch", "-w") { Description = "Again and again." };
        var command = new Command("status", Description) { connect, watch, json };
        command.SetAction(async (result, cancellationToken) =>
        {
            var output = result.InvocationConfiguration.Output;
            await using var session = await AdminSession.OpenAsync(result.GetRequiredValue(connect), cancellationToken);
            await using var trims = new TrimStatus(session.Client);
            StatusJson? before = null;
            var at = 0L;
            while (true)
            {
                var now = TimeProvider.System.GetTimestamp();
                var elapsed = before is null ? (TimeSpan?)null : TimeProvider.System.GetElapsedTime(at, now);
                var status = await TakeAsync(session, trims, before, elapsed, cancellationToken);
                if (result.GetValue(json))
                    await output.WriteLineAsync(JsonSerializer.Serialize(status, CliJson.Lines.StatusJson));
                else await StatusReport.WriteAsync(output, status);
                if (!result.GetValue(watch)) return status.AppendsSucceed ? ExitCode.Ok : ExitCode.Failed;
                (before, at) = (status, now);
                await Task.Delay(Interval, cancellationToken);
            }
        });
        return command;
    }

    private static async Task<StatusJson> TakeAsync(
        AdminSession session, TrimStatus trims, StatusJson? before, TimeSpan? elapsed,
        CancellationToken cancellationToken)
    {
        var began = TimeProvider.System.GetTimestamp();
        var agents = await session.AgentsAsync(cancellationToken);
        var faults = await ProcessFaults.AskAsync(session, agents, cancellationToken);
        while (true)
        {
            var projection = await RefreshAsync(session, cancellationToken);
            var known = projection ?? session.Cluster.Projection;
            var roles = RolesOf(known, agents);
            var answers = (await Task.WhenAll(roles.Select(async role =>
                (role.Address.Id, Answer: await NodeRoles.Log.ProbeAsync(session.Transport, role.Address,
                    role.Role, cancellationToken)))))
                .ToDictionary(answer => answer.Id, answer => answer.Answer);
            var verdict = ClusterVerdict.Of(projection, answers.GetValueOrDefault);
            if (!verdict.IsServing && TimeProvider.System.GetElapsedTime(began) < Settling)
            {
                await Task.Delay(SettlingInterval, cancellationToken);
                continue;
            }

            var newest = agents.OrderByDescending(agent => agent.Info.Epoch).Select(agent => agent.Info)
                .FirstOrDefault();
            var tail = answers.GetValueOrDefault(known.Sequencer.Id)?.Tail?.Offset;
            var mark = answers.Values.Select(answer => answer.TrimMark).Append(known.TrimMark).Max().Offset;
            // Full disks keep appends out, and what fills them can still be read.
            var canRead = known.Units.Append(known.Sequencer)
                .All(node => answers.GetValueOrDefault(node.Id) is { Answers: true });
            var trim = verdict.IsServing || canRead ? await trims.TakeAsync(mark, cancellationToken) : null;
            verdict = verdict with { Reasons = verdict.Reasons.AddRange(faults) };
            return new StatusJson(
                verdict.ToString(), verdict.AppendsSucceed, ProjectionJson.Of(known), known.Segments.Length, mark, tail,
                elapsed is { } time && tail is { } t && before?.Tail is { } b ? (t - b) / time.TotalSeconds : null,
                newest?.Automation.IsOn,
                [.. agents.Select(agent => agent.Info.Note).Where(note => note.Length > 0).Distinct()],
                [.. agents.SelectMany(agent => agent.Info.Work.Select(work => WorkJson.Of(agent.Agent, work)))],
                [.. roles.Select(role => HealthJson.Of(role, known, answers[role.Address.Id]))],
                answers.Values.Sum(answer => answer.StoredBytes), trim);
        }
    }

    // Null when no majority of the acceptors answers.
    private static async Task<Projection?> RefreshAsync(AdminSession session, CancellationToken cancellationToken)
    {
        try
        {
            return await session.Cluster.RefreshAsync(cancellationToken);
        }
        catch (Client.Layout.LayoutUnavailableException)
        {
            return null;
        }
    }

    // Collects the roles that agents know, those of the processes that answer, and those that the projection names.
    private static ImmutableArray<NodeReport> RolesOf(Projection projection, ImmutableArray<AgentAnswer> agents)
    {
        static NodeReport Unreported(NodeAddress address, NodeRole role) =>
            new(address, role, NodeDuty.None, NodeHealth.Unknown, "no agent knows it yet");

        // An agent judges the processes that it watches: of reports of one epoch the gravest counts.
        var reported = from agent in agents
                       from node in agent.Info.Nodes
                       orderby agent.Info.Epoch descending, Gravity(node.Health) descending
                       select node;
        var answering = from agent in agents
                        from role in agent.Roles
                        select Unreported(new NodeAddress(role.Id, agent.Agent.Endpoint), role.Role);
        return
        [
            .. reported.Concat(answering).Concat(projection.Units.Select(unit => Unreported(unit, NodeRole.Unit)))
                .Concat(projection.Acceptors.Select(acceptor => Unreported(acceptor, NodeRole.Acceptor)))
                .Append(Unreported(projection.Sequencer, NodeRole.Sequencer))
                .DistinctBy(report => report.Address.Id)
                .OrderBy(report => report.Address.Endpoint)
                .ThenBy(report => report.Role),
        ];
    }

    private static int Gravity(NodeHealth health) => health switch
    {
        NodeHealth.Unknown => 0,
        NodeHealth.Alive => 1,
        NodeHealth.Slow => 2,
        NodeHealth.Full => 3,
        NodeHealth.Leaving => 4,
        NodeHealth.Partitioned or NodeHealth.Overloaded => 5,
        NodeHealth.Silent => 6,
        NodeHealth.Failed => 7,
        NodeHealth.Replaced => 8,
        _ => 9,
    };
}
