using System.Collections.Immutable;
using System.CommandLine;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;

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
        var units = new Argument<string[]>("unit")
        {
            Description = $"{Endpoint} of running, freshly formatted units.",
            Arity = ArgumentArity.OneOrMore
        };
        return Make("add-unit", "More capacity: new entries go to these units too. What is written stays where it is.",
            [units], async (session, result, _, cancellationToken) =>
        {
            var added = ImmutableArray.CreateBuilder<NodeAddress>();
            foreach (var unit in result.GetRequiredValue(units))
                added.Add(await session.FindAsync(unit, NodeRole.Unit, cancellationToken));
            return await session.Operations.AddUnitsAsync(added.DrainToImmutable(), AdminSession.Reason("units added"),
                cancellationToken);
        });
    }

    private static Command RemoveUnit()
    {
        var unit = new Argument<string>("unit") { Description = $"{Endpoint} or identity of a unit in the cluster." };
        return Make("remove-unit",
            "Take a unit out. If it answers, what it has is copied to others first; if it does not, it is dropped at "
            + "once.", [unit], (session, result, error, cancellationToken) =>
            LeaveAsync(session, session.UnitOf(result.GetRequiredValue(unit)), [], error, cancellationToken));
    }

    private static Command ReplaceUnit()
    {
        var unit = new Argument<string>("unit") { Description = $"{Endpoint} or identity of a unit in the cluster." };
        var replacement = new Argument<string?>("by")
        {
            Description = $"{Endpoint} of a running, freshly formatted unit; without it a spare is taken.",
            Arity = ArgumentArity.ZeroOrOne
        };
        return Make("replace-unit",
            "Another unit takes a unit's place: new entries go there at once, what is written is copied.",
            [unit, replacement], async (session, result, error, cancellationToken) =>
        {
            var old = session.UnitOf(result.GetRequiredValue(unit));
            ImmutableArray<NodeAddress> replacements = result.GetValue(replacement) is { } named
                ? [await session.FindAsync(named, NodeRole.Unit, cancellationToken)]
                : await WaitingAsync(session, NodeDuty.Spare, NodeRole.Unit, cancellationToken);
            if (replacements.IsEmpty)
                throw new UsageException(
                    "There is no spare: name the unit that takes its place, or add one with 'corfu cluster "
                    + "add-spare'.");
            return await LeaveAsync(session, old, replacements, error, cancellationToken);
        });
    }

    private static Command ReplaceDestroyed()
    {
        var units = new Argument<string[]>("unit")
        {
            Description = $"{Endpoint} or identity of units in the cluster that will never answer again.",
            Arity = ArgumentArity.OneOrMore
        };
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
            "Where every replica of a chain is gone for good: others take their places, empty where nobody else has "
            + "the entries. The only way on then, and no way back.";
        return Make("replace-destroyed", What, [units, replacements, loss],
            async (session, result, error, cancellationToken) =>
        {
            ImmutableArray<NodeAddress> destroyed = [.. result.GetRequiredValue(units).Select(session.UnitOf)
                .Distinct()];
            foreach (var unit in destroyed)
            {
                if (await session.AnswersAsync(unit, cancellationToken))
                    throw new UsageException(
                        $"{unit.Endpoint} answers, so it is not destroyed: take 'reconfigure replace-unit'.");
            }

            if (!result.GetValue(loss))
                throw new UsageException(
                    "Entries that only these units had are lost for good, acknowledged ones too. Bring one of them "
                    + "back if that is possible at all; if not, say --accept-loss.");
            var spares = ImmutableArray.CreateBuilder<NodeAddress>();
            foreach (var replacement in result.GetValue(replacements) ?? [])
                spares.Add(await session.FindAsync(replacement, NodeRole.Unit, cancellationToken));
            if (spares.Count == 0)
                spares.AddRange(await WaitingAsync(session, NodeDuty.Spare, NodeRole.Unit, cancellationToken));
            await session.Operations.ReplaceDestroyedUnitsAsync(
                [.. destroyed.Select(unit => unit.Id)], spares.DrainToImmutable(),
                AdminSession.Reason("destroyed units replaced"), cancellationToken);
            var rebuilder = new Rebuilder(session.Client, session.Transport, TimeProvider.System);
            return await Progress.ShowAsync(error, () => rebuilder.Progress, rebuilder.RunAsync(cancellationToken));
        });
    }

    private static Command ReplaceSequencer()
    {
        var replacement = new Argument<string?>("by")
        {
            Description = $"{Endpoint} of a running sequencer; without it a standby is taken.",
            Arity = ArgumentArity.ZeroOrOne
        };
        return Make("replace-sequencer", "Another sequencer takes over in a new epoch.", [replacement],
            async (session, result, _, cancellationToken) =>
        {
            var current = (await session.Client.RefreshAsync(cancellationToken)).Sequencer;
            ImmutableArray<NodeAddress> replacements = result.GetValue(replacement) is { } named
                ? [await session.FindAsync(named, NodeRole.Sequencer, cancellationToken)]
                : await WaitingAsync(session, NodeDuty.Standby, NodeRole.Sequencer, cancellationToken);
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
            var migrator = new Migrator(session.Client, session.Transport, TimeProvider.System);
            var count = result.GetRequiredValue(replicas);
            return Progress.ShowAsync(error, () => migrator.Progress,
                session.Operations.SetReplicasAsync(count, migrator, AdminSession.Reason($"{count} replicas"),
                    cancellationToken));
        });
    }

    private static Command SetAcceptors()
    {
        var acceptors = new Argument<string[]>("acceptor")
        { Description = $"{Endpoint} of an odd number of acceptors that run.", Arity = ArgumentArity.OneOrMore };
        return Make("set-acceptors", "These acceptors decide about reconfigurations from the next epoch on.",
            [acceptors], async (session, result, _, cancellationToken) =>
        {
            var found = ImmutableArray.CreateBuilder<NodeAddress>();
            foreach (var acceptor in result.GetRequiredValue(acceptors))
                found.Add(await session.FindAsync(acceptor, NodeRole.Acceptor, cancellationToken));
            return await session.Operations.SetAcceptorsAsync(found.DrainToImmutable(),
                AdminSession.Reason("other acceptors"), cancellationToken);
        });
    }

    private static Command ReplaceDestroyedAcceptors()
    {
        var acceptors = new Argument<string[]>("acceptor")
        {
            Description = $"{Endpoint} of an odd number of acceptors that run: survivors and fresh ones.",
            Arity = ArgumentArity.OneOrMore
        };
        var survivor = new Option<string>("--survivor")
        { Description = "An acceptor that survived and knows the newest epoch.", HelpName = Endpoint, Required = true };
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
            using var transport = new TcpTransport(new TcpTransportOptions());
            async Task<NodeAddress> FindAsync(string text)
            {
                if (!NodeEndpoint.TryParse(text, out var endpoint))
                    throw new UsageException($"'{text}' is no host:port.");
                var role = (await transport.DescribeAsync(endpoint, cancellationToken)).Roles
                    .FirstOrDefault(r => r.Role == NodeRole.Acceptor);
                return role.Id.IsNone
                    ? throw new UsageException($"The process at {endpoint} runs no acceptor.")
                    : new NodeAddress(role.Id, endpoint);
            }

            var known = await FindAsync(result.GetRequiredValue(survivor));
            var cluster = (await transport.DescribeAsync(known.Endpoint, cancellationToken)).Cluster;
            using var inside = new TcpTransport(new TcpTransportOptions { Cluster = cluster });
            var newest = (await inside.CallAsync(known, new LatestRequest(Epoch.None), cancellationToken)).Latest
                ?? throw new UsageException($"The acceptor at {known.Endpoint} knows no projection.");
            var found = ImmutableArray.CreateBuilder<NodeAddress>();
            foreach (var acceptor in result.GetRequiredValue(acceptors)) found.Add(await FindAsync(acceptor));
            if (found.Count % 2 == 0)
                throw new UsageException(
                    $"{found.Count} acceptors bear no more failures than one fewer: give an odd number.");
            var reconfigurer = new Reconfigurer(inside,
                new LayoutClient(inside, SystemEntropy.Instance, TimeProvider.System), TimeProvider.System);
            var projection = await reconfigurer.ReplaceDestroyedAcceptorsAsync(
                newest, found.DrainToImmutable(),
                AdminSession.Reason("destroyed acceptors replaced, by the operator's word"), cancellationToken);
            await result.InvocationConfiguration.Output.WriteLineAsync(
                $"epoch {projection.Epoch.Value}: {projection.Reason}");
            return ExitCode.Ok;
        });
        return command;
    }

    private static Command Auto()
    {
        var state = new Argument<string>("state") { Description = "on or off." };
        state.AcceptOnlyFromAmong("on", "off");
        return Make("auto",
            "Let agents reconfigure on their own, or not. Restarted processes begin with what their node.json says.",
            [state], async (session, result, _, cancellationToken) =>
        {
            var agents = await session.AgentsAsync(cancellationToken);
            if (agents.IsEmpty) throw new UsageException("No agent answers.");
            var wanted = new Automation(agents.Max(agent => agent.Info.Automation.Version) + 1,
                result.GetRequiredValue(state) == "on");
            foreach (var agent in agents)
                await session.Transport.CallAsync(agent.Agent, new SetAutomationRequest(Epoch.None, wanted),
                    cancellationToken);
            return session.Client.Projection;
        });
    }

    // While it answers it is a source of copies, and leaves when others have what it has.
    private static async Task<Projection> LeaveAsync(
        AdminSession session, NodeAddress unit, ImmutableArray<NodeAddress> replacements, TextWriter error,
        CancellationToken cancellationToken)
    {
        var rebuilder = new Rebuilder(session.Client, session.Transport, TimeProvider.System);
        if (await session.AnswersAsync(unit, cancellationToken))
            return await Progress.ShowAsync(error, () => rebuilder.Progress,
                session.Operations.RetireUnitAsync(unit.Id, replacements, rebuilder,
                    AdminSession.Reason($"{unit.Endpoint} retired"), cancellationToken));
        await error.WriteLineAsync(
            $"{unit.Endpoint} does not answer: it is removed at once and never returns under this identity.");
        if (replacements.IsEmpty)
            return await session.Operations.DropUnitAsync(unit.Id, AdminSession.Reason($"{unit.Endpoint} dropped"),
                cancellationToken);
        await session.Operations.ReplaceUnitAsync(unit.Id, replacements,
            AdminSession.Reason($"{unit.Endpoint} replaced"), cancellationToken);
        return await Progress.ShowAsync(error, () => rebuilder.Progress, rebuilder.RunAsync(cancellationToken));
    }

    private static async Task<ImmutableArray<NodeAddress>> WaitingAsync(AdminSession session, NodeDuty duty,
        NodeRole role, CancellationToken cancellationToken)
    {
        var agents = await session.AgentsAsync(cancellationToken);
        return [.. agents.SelectMany(agent => agent.Info.Nodes)
            .Where(node => node.Duty == duty && node.Role == role && node.Health == NodeHealth.Alive)
            .Select(node => node.Address).Distinct().OrderBy(address => address.Endpoint)];
    }

    private static Command Make(
        string name, string description, Symbol[] parts,
        Func<AdminSession, ParseResult, TextWriter, CancellationToken, Task<Projection>> run)
    {
        var connect = LogCommand.ConnectOption();
        var command = new Command(name, description) { connect };
        foreach (var argument in parts.OfType<Argument>()) command.Add(argument);
        foreach (var option in parts.OfType<Option>()) command.Add(option);
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
