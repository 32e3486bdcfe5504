using Corfu.Protocol;
using Corfu.Simulation.Kernel.Network;
using Craq;
using Craq.Protocol;
using RecordCodec = Craq.Protocol.RecordCodec;
using ObjectReadMode = Craq.ObjectReadMode;

namespace Corfu.Simulation.Craq;

internal sealed partial class CraqMonitor
{
    // C2: what is passed on is durable at its sender. The sender may have lost its disk since.
    private void PassedOn(MessageInfo message, ReplicateRequest request)
    {
        NodeChain[] held =
        [
            .. _logs.Values.Where(log => log.Machine == message.Client).SelectMany(log => log.All(request.Chain)),
        ];
        if (held.Length == 0) return;
        foreach (var record in request.Records)
        {
            var version = RecordCodec.VersionOf(record.Span);
            if (RecordCodec.AreHeadsAlone(record.Span)) Mark("record passed on without its values");
            if (held.Any(log => log.HasHeld(version))) continue;
            Found(CheckerNames.ChainLog, $"{message.Client} passes {version} on, which is not durable there");
            return;
        }
    }

    // C4: a tail tells what is committed.
    private void Told(MessageInfo message, MarkedRequest request)
    {
        Mark("mark told beside the chain");
        var committed = Truth(request.Chain).Committed;
        if (request.Mark > committed)
            Found(CheckerNames.CommittedOnly,
                $"{message.Client} tells the mark {request.Mark}, and {committed} is committed");
    }

    private void Read(MessageInfo message, ReadObjectsRequest request, ReadObjectsResponse answer)
    {
        var node = message.Node;
        var truth = Truth(request.Chain);
        var held = _logs[node].Find(request.Chain);
        Mark($"read {request.Mode}");
        Told(node, request.Chain, answer.Mark, isNow: false);
        if (held is { IsLearning: true })
            Found(CheckerNames.Learn, $"{NameOf(node)} answers a {request.Mode} read while it learns {truth.Newest}");
        if (truth.ConfigOf(answer.Epoch) is { } config && config.IndexOf(node) < 0)
            Found(CheckerNames.Learn,
                $"{NameOf(node)} answers a {request.Mode} read and is no member of {config}");
        if ((held?.Last ?? default).IsNone && truth.HasOpenedWith(node))
            Found(CheckerNames.Learn,
                $"{NameOf(node)} answers a {request.Mode} read and holds nothing of {truth.Newest}");
        foreach (var found in answer.Objects)
        {
            if (found.IsDirty) Mark("dirty version shown");
            if (found.Version > (held?.Last ?? default))
                Found(CheckerNames.NodeDurable,
                    $"{NameOf(node)} shows {found.Version}, and its log has {held?.Last} durable");
            if (request.Mode is ObjectReadMode.Strong or ObjectReadMode.Session && found.Version > truth.Committed)
                Found(CheckerNames.CommittedOnly,
                    $"{NameOf(node)} shows {found.Version} to a {request.Mode} read, and {truth.Committed} is "
                    + "committed");
        }

        if (request.Mode != ObjectReadMode.Strong) return;
        if (!truth.IsOpen(answer.Epoch))
            Found(CheckerNames.Fence,
                $"{NameOf(node)} answers a strong read in {answer.Epoch}, which is not open at all its members");
        // C6, C7: the epoch was the newest at some moment after the arrival.
        if (truth.OpenBefore(message.ReceivedAt) is var newer && newer > answer.Epoch)
            Found(CheckerNames.Fence,
                $"{NameOf(node)} answers a strong read in {answer.Epoch}, which came when {newer} was open");
    }

    // C17: a confirmation was sent before it was answered.
    private void Ages(MessageInfo message, ChainId chain, Epoch epoch)
    {
        var heard = _heard.GetValueOrDefault((_logs[message.Node].Machine, chain, epoch), -1);
        if (ProvenAt(message.Node, chain) is not { } proven || proven <= heard) return;
        Found(CheckerNames.Bounded,
            $"{NameOf(message.Node)} counts the age of its answers from {proven}, and the newest answer to its "
            + $"questions was given at {heard}");
    }

    private void Mutated(NodeId node, MutateRequest request, MutateResponse answer)
    {
        Told(node, request.Chain, answer.Mark, isNow: false);
        Mark(answer.IsOk ? "mutated" : "compare failed");
        if (request.AtHead || answer.Version <= Truth(request.Chain).Committed) return;
        Found(CheckerNames.CommittedOnly,
            $"{NameOf(node)} answers {answer.Status} by {answer.Version}, and {Truth(request.Chain).Committed} is "
            + "committed");
    }

    private void Confirmed(MessageInfo message, ChainEpoch asked, ChainConfirmation answer)
    {
        var node = message.Node;
        _heard[(message.Client, asked.Chain, asked.Epoch)] = world.Now;
        if (answer.Epoch > Epoch.None) Told(node, asked.Chain, answer.Mark);
        var held = _logs[node].Find(asked.Chain);
        if (!answer.IsExact) return;
        if (held?.Installed != asked.Epoch)
            Found(CheckerNames.Fence,
                $"{NameOf(node)} confirms {asked.Epoch}, and {held?.Installed} is durable there");
        if (!Truth(asked.Chain).IsOpen(asked.Epoch))
            Found(CheckerNames.Fence,
                $"{NameOf(node)} confirms {asked.Epoch}, which is not open at all its members");
    }

    private void Installed(NodeId node, InstallChainRequest request, InstallChainResponse answer)
    {
        var chain = request.View.Config.Id;
        Told(node, chain, answer.Mark);
        if (answer.Last > (_logs[node].Find(chain)?.Last ?? default))
            Found(CheckerNames.ChainLog, $"{NameOf(node)} says that {answer.Last} is durable, and it is not");
        if ((_logs[node].Find(chain)?.Installed ?? Epoch.None) < request.Epoch)
            Found(CheckerNames.Fence, $"{NameOf(node)} answers the install of {request.Epoch} before it is durable");
    }

    // A node tells no mark above the committed version, and its marks never fall (C4). An answer that waited for the
    // disk has an older mark: it is not now.
    private void Told(NodeId node, ChainId chain, ObjectVersion mark, bool isNow = true)
    {
        var truth = Truth(chain);
        if (mark > truth.Committed)
            Found(CheckerNames.CommittedOnly,
                $"{NameOf(node)} tells the mark {mark}, and {truth.Committed} is committed");
        if (!isNow) return;
        var before = _marks.GetValueOrDefault((node, chain));
        if (mark < before)
            Found(CheckerNames.ChainLog, $"{NameOf(node)} tells the mark {mark} after {before}");
        _marks[(node, chain)] = mark;
    }
}
