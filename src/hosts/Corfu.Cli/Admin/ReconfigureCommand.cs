using Corfu.Agent;
using Corfu.Client.Layout;

namespace Corfu.Cli;

/// <summary><c>corfu reconfigure</c>: changes of a running cluster, by hand.</summary>
internal static class ReconfigureCommand
{
    private const string Endpoint = "HOST:PORT";

    public static Command Create() => new(
        "reconfigure",
        "Change a running cluster. Every command may be interrupted and given again: it asks for nothing that is "
        + "already so, and goes on where it was.")
    {
        AddUnit(),
        RemoveUnit(),
        ReplaceUnit(),
        ReplaceDestroyed(),
        ReplaceSequencer(),
        SetReplicas(),
        SetAcceptors(),
        ReplaceDestroyedAcceptors(),
        Auto(),
    };

    private static Command AddUnit()
    {
        var units = Several("unit", $"{Endpoint} of running, freshly formatted units.");
        return Make("add-unit", "More capacity: new entries go to these units too. What is written stays where it is.",
            [units], async (session, result, _, cancellationToken) =>
        {
            var added = await FindAllAsync(session, result.GetRequiredValue(units), NodeRole.Unit, cancellationToken);
            return await session.Operations.AddUnitsAsync(added, AdminSession.Reason("units added"), cancellationToken);
        });
    }

    private static Command RemoveUnit()
    {
        var unit = UnitArgument();
        return Make("remove-unit",
            "Take a unit out. If it answers, what it has is copied to others first; if it does not, it is dropped at "
            + "once.", [unit], (session, result, error, cancellationToken) =>
            LeaveAsync(session, session.Operator.UnitOf(result.GetRequiredValue(unit)), [], error, cancellationToken));
    }

    private static Command ReplaceUnit()
    {
        var unit = UnitArgument();
        var replacement = By($"{Endpoint} of a running, freshly formatted unit; without it a spare is taken.");
        return Make("replace-unit",
            "Another unit takes a unit's place: new entries go there at once, what is written is copied.",
            [unit, replacement], async (session, result, error, cancellationToken) =>
        {
            var old = session.Operator.UnitOf(result.GetRequiredValue(unit));
            ImmutableArray<NodeAddress> replacements = result.GetValue(replacement) is { } named
                ? [await session.FindAsync(named, NodeRole.Unit, cancellationToken)]
                : await session.Operator.WaitingAsync(NodeDuty.Spare, NodeRole.Unit, cancellationToken);
            if (replacements.IsEmpty)
                throw new UsageException(
                    "There is no spare: name the unit that takes its place, or add one with 'corfu cluster "
                    + "add-spare'.");
            return await LeaveAsync(session, old, replacements, error, cancellationToken);
        });
    }

    private static Command ReplaceDestroyed()
    {
        var units = Several("unit", $"{Endpoint} or identity of units in the cluster that will never answer again.");
        var replacements = new Option<string[]>("--by")
        {
            Description = $"{Endpoint} of running, freshly formatted units, one for each; without it spares are taken.",
            HelpName = Endpoint,
            Arity = ArgumentArity.OneOrMore,
            AllowMultipleArgumentsPerToken = true
        };
        var loss = new Option<bool>("--accept-loss")
        { Description = "What only these units had is lost for good, and becomes junk as readers meet it." };
        const string What =
            "Where every replica of a chain is gone for good: others take their places, empty where no other unit has "
            + "the entries. The only way on then, and no way back.";
        return Make("replace-destroyed", What, [units, replacements, loss],
            async (session, result, error, cancellationToken) =>
        {
            ImmutableArray<NodeAddress> destroyed = [.. result.GetRequiredValue(units).Select(session.Operator.UnitOf)
                .Distinct()];
            foreach (var unit in destroyed)
            {
                if (await session.Operator.AnswersAsync(unit, cancellationToken))
                    throw new UsageException(
                        $"{unit.Endpoint} answers, so it is not destroyed: take 'reconfigure replace-unit'.");
            }

            if (!result.GetValue(loss))
                throw new UsageException(
                    "Entries that only these units had are lost for good, acknowledged ones too. Bring one of them "
                    + "back if that is possible at all; if not, say --accept-loss.");
            var spares = result.GetValue(replacements) is { Length: > 0 } named
                ? await FindAllAsync(session, named, NodeRole.Unit, cancellationToken)
                : await session.Operator.WaitingAsync(NodeDuty.Spare, NodeRole.Unit, cancellationToken);
            await session.Operations.ReplaceDestroyedUnitsAsync([.. destroyed.Select(unit => unit.Id)], spares,
                AdminSession.Reason("destroyed units replaced"), cancellationToken);
            var rebuilder = new Rebuilder(session.Cluster, session.Transport, TimeProvider.System);
            return await Progress.ShowAsync(error, () => rebuilder.Progress, rebuilder.RunAsync(cancellationToken));
        });
    }

    private static Command ReplaceSequencer()
    {
        var replacement = By($"{Endpoint} of a running sequencer; without it a standby is taken.");
        return Make("replace-sequencer", "Another sequencer takes over in a new epoch.", [replacement],
            async (session, result, _, cancellationToken) =>
        {
            var current = (await session.Cluster.RefreshAsync(cancellationToken)).Sequencer;
            ImmutableArray<NodeAddress> replacements = result.GetValue(replacement) is { } named
                ? [await session.FindAsync(named, NodeRole.Sequencer, cancellationToken)]
                : await session.Operator.WaitingAsync(NodeDuty.Standby, NodeRole.Sequencer, cancellationToken);
            if (replacements.IsEmpty)
                throw new UsageException(
                    "There is no standby: name the sequencer that takes over, or add one with 'corfu cluster "
                    + "add-sequencer'.");
            return await session.Operations.ReplaceSequencerAsync(current.Id, replacements,
                AdminSession.Reason("sequencer replaced"), cancellationToken);
        });
    }

    private static Command SetReplicas()
    {
        var replicas = new Argument<int>("replicas") { Description = "Replicas of every entry." };
        return Make("set-replicas",
            "Another number of replicas: at once for new entries; what is written is copied after them.", [replicas],
            (session, result, error, cancellationToken) =>
        {
            var migrator = new Migrator(session.Cluster, session.Transport, TimeProvider.System);
            var count = result.GetRequiredValue(replicas);
            return Progress.ShowAsync(error, () => migrator.Progress,
                session.Operations.SetReplicasAsync(count, migrator, AdminSession.Reason($"{count} replicas"),
                    cancellationToken));
        });
    }

    private static Command SetAcceptors()
    {
        var acceptors = Several("acceptor", $"{Endpoint} of an odd number of acceptors that run.");
        return Make("set-acceptors", "These acceptors decide about reconfigurations from the next epoch on.",
            [acceptors], async (session, result, _, cancellationToken) =>
        {
            var found = await FindAllAsync(session, result.GetRequiredValue(acceptors), NodeRole.Acceptor,
                cancellationToken);
            return await session.Operations.SetAcceptorsAsync(found, AdminSession.Reason("other acceptors"),
                cancellationToken);
        });
    }

    private static Command ReplaceDestroyedAcceptors()
    {
        var acceptors = Several("acceptor",
            $"{Endpoint} of an odd number of acceptors that serve: survivors and fresh ones.");
        var survivor = new Option<string>("--survivor")
        {
            Description = "A node that knows the newest epoch: an acceptor that survived, or any other node's agent.",
            HelpName = Endpoint,
            Required = true
        };
        var loss = new Option<bool>("--accept-loss")
        {
            Description = "The other acceptors will never answer again. If one does after all, it is not part of the "
            + "cluster."
        };
        const string What =
            "Where a majority of the acceptors is gone for good: others take over what a survivor knows. The only "
            + "way on then, and no way back.";
        var command = new Command("replace-destroyed-acceptors", What) { acceptors, survivor, loss };
        command.SetAction(async (result, cancellationToken) =>
        {
            if (!result.GetValue(loss))
                throw new UsageException(
                    "A majority of acceptors that comes back decides otherwise. If it is destroyed, say "
                    + "--accept-loss.");
            var process = Connections.ProcessAt(result.GetRequiredValue(survivor));
            var survives = process.Endpoints[0];
            var known = await Connections.DescribeAsync(process, cancellationToken);
            CommandDeadline.Connected();
            using var transport = Connections.NewTransport(process, known.Cluster);
            var newest = await NewestAsync(transport, survives, known, cancellationToken)
                ?? throw new UsageException($"Neither acceptor nor agent at {survives} knows a projection.");
            var answering = 0;
            foreach (var acceptor in newest.Acceptors)
            {
                if (await LatestAsync(transport, acceptor, cancellationToken) is not null) answering++;
            }

            if (answering * 2 > newest.Acceptors.Length)
                throw new UsageException(
                    $"{answering} of {newest.Acceptors.Length} acceptors answer, so a majority is there: take "
                    + "'reconfigure set-acceptors'.");
            var found = ImmutableArray.CreateBuilder<NodeAddress>();
            foreach (var endpoint in result.GetRequiredValue(acceptors).Select(Connections.EndpointOf))
            {
                var there = process with { Endpoints = [endpoint] };
                var role = (await Connections.DescribeAsync(there, cancellationToken)).Roles
                    .FirstOrDefault(r => r.Role == NodeRole.Acceptor);
                var acceptor = new NodeAddress(role.Id, endpoint);
                if (role.Id.IsNone || await LatestAsync(transport, acceptor, cancellationToken) is null)
                    throw new UsageException($"The process at {endpoint} runs no acceptor that serves.");
                found.Add(acceptor);
            }

            if (found.Count % 2 == 0)
                throw new UsageException(
                    $"{found.Count} acceptors bear no more failures than one fewer: give an odd number.");
            var reconfigurer = new Reconfigurer(transport,
                new LayoutClient(transport, SystemEntropy.Instance, TimeProvider.System), TimeProvider.System);
            var projection = await reconfigurer.ReplaceDestroyedAcceptorsAsync(newest, found.DrainToImmutable(),
                AdminSession.Reason("destroyed acceptors replaced, by the operator's word"), cancellationToken);
            await result.InvocationConfiguration.Output.WriteLineAsync(
                $"epoch {projection.Epoch.Value}: {projection.Reason}");
            return ExitCode.Ok;
        });
        return command;
    }

    // An acceptor may be damaged while the agent of its process knows what was decided, and the other way round.
    private static async Task<Projection?> NewestAsync(
        ITransport transport, NodeEndpoint endpoint, NodeDescription node, CancellationToken cancellationToken)
    {
        var answers = await Task.WhenAll(node.Roles.Where(role => role.Role is NodeRole.Acceptor or NodeRole.Agent)
            .Select(role => LatestAsync(transport, new NodeAddress(role.Id, endpoint), cancellationToken)));
        return answers.Select(answer => answer?.Latest).OfType<Projection>().MaxBy(projection => projection.Epoch);
    }

    private static async Task<LayoutResponse?> LatestAsync(
        ITransport transport, NodeAddress node, CancellationToken cancellationToken)
    {
        try
        {
            var answer = await transport.CallAsync(node, new LatestRequest(Epoch.None), cancellationToken);
            return answer.IsOk ? answer : null;
        }
        catch (TransportException)
        {
            return null;
        }
    }

    private static Command Auto()
    {
        var state = new Argument<string>("state") { Description = "on or off." };
        state.AcceptOnlyFromAmong("on", "off");
        return Make("auto",
            "Let agents reconfigure on their own, or not. Restarted processes begin with what their node.json says.",
            [state], async (session, result, _, cancellationToken) =>
        {
            await session.Operator.SetAutomaticAsync(result.GetRequiredValue(state) == "on", cancellationToken);
            return session.Cluster.Projection;
        });
    }

    private static Task<Projection> LeaveAsync(AdminSession session, NodeAddress unit,
        ImmutableArray<NodeAddress> replacements, TextWriter error, CancellationToken cancellationToken)
    {
        var rebuilder = session.Operator.NewRebuilder();
        return Progress.ShowAsync(error, () => rebuilder.Progress, session.Operator.LeaveAsync(
            unit, replacements, rebuilder,
            () => error.WriteLineAsync(
                $"{unit.Endpoint} does not answer: it is removed at once and never returns under this identity."),
            cancellationToken));
    }

    private static Argument<string[]> Several(string name, string description) =>
        new(name) { Description = description, Arity = ArgumentArity.OneOrMore };

    private static Argument<string?> By(string description) =>
        new("by") { Description = description, Arity = ArgumentArity.ZeroOrOne };

    private static Argument<string> UnitArgument() =>
        new("unit") { Description = $"{Endpoint} or identity of a unit in the cluster." };

    private static async Task<ImmutableArray<NodeAddress>> FindAllAsync(
        AdminSession session, IEnumerable<string> endpoints, NodeRole role, CancellationToken cancellationToken)
    {
        var found = ImmutableArray.CreateBuilder<NodeAddress>();
        foreach (var endpoint in endpoints) found.Add(await session.FindAsync(endpoint, role, cancellationToken));
        return found.DrainToImmutable();
    }

    private static Command Make(string name, string description, Symbol[] parts,
        Func<AdminSession, ParseResult, TextWriter, CancellationToken, Task<Projection>> run)
    {
        var connect = CommonOptions.ConnectOption();
        var command = Commands.New(name, description, [connect, .. parts]);
        command.SetAction(async (result, cancellationToken) =>
        {
            await using var session = await AdminSession.OpenAsync(result.GetRequiredValue(connect), cancellationToken);
            var projection = await run(session, result, result.InvocationConfiguration.Error, cancellationToken);
            await result.InvocationConfiguration.Output.WriteLineAsync(
                $"epoch {projection.Epoch.Value}: {projection.Reason}");
            return ExitCode.Ok;
        });
        return command;
    }
}
