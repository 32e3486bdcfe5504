using Corfu.Detection;
using Craq.Agent;
using Craq.Chains;
using Craq.Coordination;
using Craq.Storage;

namespace Craq.Learning;

/// <summary>Learns one chain until the node is a full member of it: takes over the clean state of a full member,
/// follows its committed records, and asks to be promoted.</summary>
internal sealed class Learner(CraqHandler handler, INodeStore store, IChainDirectory directory, ITransport transport,
    TimeProvider time, CraqNodeOptions options, ChainId chain)
{
    private readonly CancellationTokenSource _stop = new();

    // Tries that failed since the last answer: each asks another member.
    private int _failures;

    // A source has forgotten records behind the newest one here: only another round copies what they changed (C11).
    private bool _mustRelearn;

    /// <summary>The place in the chain that is asked for; the agent's.</summary>
    public int Index { get; set; }

    public bool IsEnded { get; private set; }

    public void Stop() => _stop.Cancel();

    public async Task RunAsync()
    {
        try
        {
            while (!await TryStepAsync()) await Task.Delay(options.Retry, time, _stop.Token);
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            // The node is not wanted any more, or it ends. What it holds it goes on with, the next time.
        }
        finally
        {
            IsEnded = true;
        }
    }

    private async Task<bool> TryStepAsync()
    {
        try
        {
            return await StepAsync();
        }
        catch (Exception e) when (e is CorfuException or IOException or ObjectDisposedException
            || (e is OperationCanceledException && !_stop.IsCancellationRequested))
        {
            _failures++;
            return false;
        }
    }

    /// <returns>True: there is nothing more to learn.</returns>
    private async Task<bool> StepAsync()
    {
        // Linearizable: only a node that the log says is not full may drop anything (C10).
        var view = await directory.ReadAsync(_stop.Token);
        if (!view.Chains.TryGetValue(chain, out var config) || config.IndexOf(handler.Id) >= 0) return true;
        var isComplete = false;
        var mark = ObjectVersion.None;
        var isInstalled = handler.WithNewChain(chain, (core, effects) =>
        {
            core.Install(handler.Locate(config), effects);
            (isComplete, mark) = (core.Standing == ChainStanding.Complete && !_mustRelearn, core.Mark);
        });
        if (!isInstalled || SourceOf(config, view) is not { } source) return false;
        if (!isComplete && !await ReconcileAsync(config, source, mark)) return false;
        return await FollowAsync(config, source);
    }

    /// <summary>1. The source's mark is the base. 2. Its objects as of the base are taken over, and its records above
    /// followed. 3. What was written above the base meanwhile is clean here. 4. The Full record is durable.</summary>
    private async Task<bool> ReconcileAsync(ChainConfig config, NodeAddress source, ObjectVersion mark)
    {
        // A source that is behind this node's own mark is none.
        var begun = await AskAsync(source, new ReconcileRequest(config.Epoch, chain, mark, [], []));
        var learns = false;
        handler.WithChain(chain, (core, effects) => learns = core.TryLearn(begun.Base, effects));
        if (!learns) return false;
        _mustRelearn = false;
        var round = new Reconciliation(handler, store, chain, config.Epoch, begun.Base,
            request => AskAsync(source, request), async () => await FetchAsync(config.Epoch, source) is not null);
        if (!await round.RunAsync() || !await CatchUpAsync(config.Epoch, source, round.Until)) return false;
        long? lsn = null;
        handler.WithChain(chain, (core, effects) => lsn = core.Complete(effects));
        if (lsn is null) return false;
        while (store.DurableUntil < lsn) await Task.Delay(options.Tick, time, _stop.Token);
        return true;
    }

    // False: the source has forgotten some of the records.
    private async Task<bool> CatchUpAsync(Epoch epoch, NodeAddress source, ObjectVersion until)
    {
        var mark = ObjectVersion.None;
        while (handler.WithChain(chain, (core, _) => mark = core.Mark) && mark < until)
        {
            if (await FetchAsync(epoch, source) is null) return false;
            await Task.Delay(options.Tick, time, _stop.Token);
        }

        return mark >= until;
    }

    private async Task<ReconcileResponse> AskAsync(NodeAddress source, ReconcileRequest request)
    {
        var answer = await CallAsync(source, request);
        return answer.IsOk
            ? answer
            : throw new CorfuException($"{source} is no source of chain {chain}: {answer.Status}.");
    }

    /// <summary>Fetches committed records until the node has nearly all of them, then asks to be promoted.</summary>
    private async Task<bool> FollowAsync(ChainConfig config, NodeAddress source)
    {
        while (directory.View.Chains.TryGetValue(chain, out var newest) && newest.Epoch <= config.Epoch)
        {
            if (await FetchAsync(config.Epoch, source) is not { } bytes)
            {
                // The source has these records no more: another round copies what has changed since.
                _mustRelearn = true;
                return false;
            }

            _failures = 0;
            if (bytes >= options.BatchBytes / 2) continue;
            if (newest.IsRecordedOpen && newest.Epoch == config.Epoch && await PromoteAsync(newest)) return true;
            await Task.Delay(options.Tick, time, _stop.Token);
        }

        return false;
    }

    /// <returns>Bytes of the records that came; null: the source has forgotten some behind the last one here.</returns>
    private async Task<long?> FetchAsync(Epoch epoch, NodeAddress source)
    {
        var after = ObjectVersion.None;
        handler.WithChain(chain, (core, _) => after = core.Last);
        var answer = await CallAsync(source,
            new FetchRequest(epoch, chain, after, options.BatchBytes, CommittedOnly: true));
        if (answer.Status == CraqStatus.Forgotten) return null;
        var status = answer.Status;
        handler.WithChain(chain, (core, effects) => status = answer.IsOk ? core.Follow(answer, effects) : status);
        return status == Status.Ok
            ? answer.Records.Sum(record => (long)record.Length)
            : throw new CorfuException($"{source} told the records of chain {chain} badly: {status}.");
    }

    private async Task<bool> PromoteAsync(ChainConfig config)
    {
        if (!await IsReachedAsync(config))
        {
            await Task.Delay(options.Retry, time, _stop.Token);
            return false;
        }

        var index = Math.Clamp(Index, 0, config.Members.Length);
        var outcome = await directory.TryChangeAsync(
            chain, config.Epoch, new ChainChange.Promote(handler.Id, index), _stop.Token);
        if (outcome.IsRecorded)
            InstallCall.Tell(transport, directory.View, outcome.Config!, time, CancellationToken.None);
        else await Task.Delay(options.Retry, time, _stop.Token);
        return outcome.IsRecorded;
    }

    // An epoch opens when its head reaches all members, and records pass from each to the next: a node that does not
    // reach a member, or that a member does not reach, would close the chain.
    private async Task<bool> IsReachedAsync(ChainConfig config)
    {
        var view = handler.Locate(config);
        var answers = await Task.WhenAll(Enumerable.Range(0, config.Members.Length).Select(member =>
            transport.TryCallAsync(view.Address(member), new PingNodeRequest(Epoch.None, handler.Id),
                options.CallLimit, time, _stop.Token)));
        return answers.All(static answer => answer is { IsOk: false } or PingNodeResponse { Answers: true });
    }

    // The full member before its place, or behind it if it will be the head; another one if that does not answer.
    private NodeAddress? SourceOf(ChainConfig config, DirectoryView view)
    {
        var place = Math.Clamp(Index, 0, config.Members.Length);
        var member = config.Members[(Math.Max(place - 1, 0) + _failures) % config.Members.Length].Node;
        return view.Nodes.TryGetValue(member, out var node) ? new NodeAddress(member, node.Endpoint) : null;
    }

    private async Task<T> CallAsync<T>(NodeAddress to, Request<T> request)
        where T : Response
    {
        using var limit = new CancellationTokenSource(options.CallLimit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, _stop.Token);
        return await transport.CallAsync(to, request, either.Token);
    }
}
