using Craq.Chains;
using Craq.Coordination;

namespace Craq;

/// <summary>The effects that the chains' steps want outside the lock.</summary>
internal sealed partial class CraqHandler
{
    // A value that keeps being cleaned away or replaced while it is read.
    private const int MaxTries = 16;

    /// <summary>An attempt at a request that needs values.</summary>
    /// <returns>The values that must be loaded before the next attempt.</returns>
    private delegate IReadOnlyList<MissingValue> Evaluate(
        ChainCore core, LoadedValues loaded, ChainEffects effects);

    private void Carry(ChainEffects effects)
    {
        if (effects.IsEmpty) return;
        Send(effects.Answers);
        foreach (var plan in effects.Plans) _ = ReadAsync(plan);
        if (effects.Calls.Count > 0) Call(effects);
        foreach (var view in effects.Views) Adopt(view);
        foreach (var (request, to) in effects.Again) Handle(request, to);
        if (effects.Again.Count > 0) BatchEnd();
        foreach (var held in effects.Expired) Resolve?.Invoke(held);
        foreach (var chain in effects.Opened) _ = RecordOpenedAsync(chain);
        foreach (var chain in effects.Logged) _ = AskDirectoryAsync(chain);
        foreach (var chain in effects.Renewals) _ = RenewAsync(chain);
    }

    private static void Send(LazyList<(ReplyTo To, Response Response)> answers)
    {
        if (answers.Count == 0) return;
        var batch = answers.Count > 1 ? new ReplyBatch() : null;
        try
        {
            foreach (var (to, response) in answers)
            {
                batch?.Add(to);
                to.Send(response);
            }
        }
        finally
        {
            batch?.Flush();
        }
    }

    /// <summary>Takes over a config that another node or the directory has told of, if it is newer and concerns this
    /// node.</summary>
    /// <returns>False: the store has no room for it at the moment.</returns>
    private bool Adopt(ChainView view)
    {
        var config = view.Config;
        ChainEffects effects;
        bool isTaken;
        lock (_gate)
        {
            if (_failed) return true;
            var core = Find(config.Id);
            if (core is null && RefusesNew(config) is not null) return true;
            core ??= Add(config.Id);
            if (config.Epoch <= core.Epoch) return true;
            effects = Effects();
            isTaken = core.Install(view, effects);
            End(core, effects);
            Settle(effects);
            CommitNow();
        }

        Carry(effects);
        return isTaken;
    }

    // Questions of several chains to one member are one message.
    private void Call(ChainEffects effects)
    {
        List<ChainCall>? questions = null;
        foreach (var call in effects.Calls)
        {
            if (call.Request is ConfirmRequest) (questions ??= []).Add(call);
            else _ = CallAsync(call);
        }

        if (questions is null) return;
        foreach (var member in questions.GroupBy(static call => call.To.Id))
        {
            foreach (var calls in member.Chunk(ConfirmRequest.MaxChains)) _ = AskAsync(calls);
        }
    }

    private async Task AskAsync(ChainCall[] calls)
    {
        var request = calls.Length == 1 ? (ConfirmRequest)calls[0].Request : new ConfirmRequest(Epoch.None,
            [.. calls.Select(static call => new ChainEpoch(call.Chain, call.Request.Epoch))]);
        ConfirmResponse? response = null;
        try
        {
            using var limit = new CancellationTokenSource(_options.CallLimit, _time);
            response = await _transport.CallAsync(Locate(calls[0].To), request, limit.Token);
        }
        catch (Exception error) when (error is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            // No answer: the rounds ask other members.
        }

        var answers = response is { IsOk: true } && response.Chains.Length == calls.Length ? response.Chains : [];
        var effects = new ChainEffects(default);
        try
        {
            lock (_gate)
            {
                if (_failed) return;
                effects = Effects();
                for (var i = 0; i < calls.Length; i++)
                {
                    if (Find(calls[i].Chain) is not { } core) continue;
                    core.OnConfirmed(calls[i], answers.IsEmpty ? default : answers[i], effects);
                    core.StartRound(effects);
                    End(core, effects);
                }

                CommitNow();
            }
        }
        catch (Exception failure) when (failure is IOException or ObjectDisposedException or StoreFailedException)
        {
            OnFailed(failure);
            return;
        }

        Carry(effects);
    }

    private async Task CallAsync(ChainCall call)
    {
        Response? response = null;
        try
        {
            using var limit = new CancellationTokenSource(_options.CallLimit, _time);
            var to = Locate(call.To);
            response = call.Request switch
            {
                ReplicateRequest request => await _transport.CallAsync(to, request, limit.Token),
                InstallChainRequest request => await _transport.CallAsync(to, request, limit.Token),
                FetchRequest request => await _transport.CallAsync(to, request, limit.Token),
                AckRequest request => await _transport.CallAsync(to, request, limit.Token),
                _ => null,
            };
        }
        catch (Exception error) when (error is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            // No answer: the chain asks again.
        }

        // The chain has nothing to do with the answer, nor without one.
        if (call.Request is ValuesRequest sent) EndSending(sent);
        else Step(call.Chain, (core, effects) => TakeAnswer(core, call, response, effects));
    }

    private void EndSending(ValuesRequest sent)
    {
        lock (_gate) _budget.Relayed.Sent(sent.Record.Length);
    }

    private static void TakeAnswer(ChainCore core, ChainCall call, Response? response, ChainEffects effects)
    {
        switch (call.Request)
        {
            case ReplicateRequest:
                core.OnReplicated(call, (ReplicateResponse?)response, effects);
                break;
            case InstallChainRequest:
                core.OnInstalled(call, (InstallChainResponse?)response, effects);
                break;
            case MarkedRequest:
                core.OnMarked(call, effects);
                break;
            default:
                core.OnFetched(call, (FetchResponse?)response, effects);
                break;
        }
    }

    // A store that fails reports it; malformed answers count as none.
    private void Step(ChainId chain, Action<ChainCore, ChainEffects> step)
    {
        try
        {
            WithChain(chain, step);
        }
        catch (MalformedDataException)
        {
            // The chain asks again.
        }
        catch (Exception failure) when (failure is IOException or ObjectDisposedException or StoreFailedException)
        {
            OnFailed(failure);
        }
    }

    // A node that has been started anew may have another endpoint.
    internal NodeAddress Locate(NodeAddress address) =>
        _directory.View.Nodes.TryGetValue(address.Id, out var node)
            ? new NodeAddress(address.Id, node.Endpoint)
            : address;

    private void Load(MutateRequest request, ReplyTo reply, IReadOnlyList<MissingValue> missing, ChainEffects effects)
    {
        var owned = request.ToOwned();
        Load(owned, owned.Chain, reply, missing, effects,
            (core, loaded, effects) => core.Mutate(owned, reply, loaded, effects));
    }

    private void Load(PreparePartRequest request, ReplyTo reply, IReadOnlyList<MissingValue> missing,
        ChainEffects effects)
    {
        var owned = request with { Part = request.Part.ToOwned() };
        Load(owned, owned.Part.Chain, reply, missing, effects,
            (core, loaded, effects) => core.Prepare(owned, reply, loaded, effects));
    }

    // Under the lock: the request's memory is the connection's, so its copy is made here.
    private void Load(Request owned, ChainId chain, ReplyTo reply, IReadOnlyList<MissingValue> missing,
        ChainEffects effects, Evaluate evaluate)
    {
        if (!_budget.HasPlace)
        {
            effects.Answer(reply, owned.Fail(Status.Overloaded, owned.Epoch));
            return;
        }

        _budget.Waiting++;
        _ = EvaluateAsync(owned, chain, reply, [.. missing.Select(one => one with { Key = one.Key.ToOwned() })],
            evaluate);
    }

    // Loads what the evaluation needs, and evaluates again: what was loaded counts only if it is still the newest.
    private async Task EvaluateAsync(Request request, ChainId chain, ReplyTo reply,
        IReadOnlyList<MissingValue> missing, Evaluate evaluate)
    {
        var loaded = new LoadedValues();
        var status = Status.Corrupt;
        try
        {
            for (var tries = 0; missing.Count > 0 && tries < MaxTries; tries++)
            {
                foreach (var one in missing)
                {
                    if (one.Slot is not { } slot) await _store.LoadAsync(chain, one.Key);
                    else if (await _store.ReadAsync(slot, one.Key) is { } value)
                        loaded.Set(one.Key, slot.Version, value);
                }

                var isHeld = WithChain(chain, (core, effects) => missing = evaluate(core, loaded, effects));
                if (isHeld) continue;
                status = Status.Failed;
                break;
            }
        }
        catch (Exception error)
            when (error is IOException or ObjectDisposedException or StoreFailedException
                or UnauthorizedAccessException)
        {
            status = Status.Failed;
        }

        EndWait();
        if (missing.Count > 0) reply.Send(request.Fail(_failed ? Status.Failed : status, request.Epoch));
    }

    private async Task ReadAsync(ReadPlan plan)
    {
        try
        {
            for (var tries = 0; plan.Missing.Count > 0; tries++)
            {
                MissingObject[] missing = [.. plan.Missing];
                plan.Missing.Clear();
                foreach (var one in missing)
                {
                    if (one.Index < plan.End) await ReadAsync(plan, one, isLast: tries >= MaxTries);
                }
            }

            plan.To.Send(plan.Response with
            {
                Objects = System.Runtime.InteropServices.ImmutableCollectionsMarshal.AsImmutableArray(
                    plan.Results[..plan.End]),
            });
        }
        catch (Exception error)
            when (error is IOException or ObjectDisposedException or StoreFailedException
                or UnauthorizedAccessException)
        {
            plan.To.Send(new ReadObjectsResponse(Status.Failed, plan.Response.Epoch));
        }
    }

    private async ValueTask ReadAsync(ReadPlan plan, MissingObject one, bool isLast)
    {
        if (one.Slot is not { } slot) await _store.LoadAsync(plan.Chain, one.Key);
        else if (await _store.ReadAsync(slot, one.Key) is { } value)
        {
            plan.Results[one.Index] = plan.Results[one.Index] with { Value = value };
            return;
        }

        if (isLast)
        {
            plan.Results[one.Index] = plan.Results[one.Index] with { Status = Status.Corrupt, Value = default };
            return;
        }

        // Without a value there is no answer: the store has failed or is closed, or the chain is gone.
        if (!WithChain(plan.Chain, (core, effects) => core.Replan(plan, one, effects.Now)))
            throw new ObjectDisposedException(nameof(CraqHandler));
    }

    private async Task AskDirectoryAsync(ChainId chain)
    {
        var asked = _time.GetElapsedTime(0).Ticks;
        Epoch? newest = null;
        try
        {
            using var limit = new CancellationTokenSource(_options.CallLimit, _time);
            var view = await _directory.ReadAsync(limit.Token);
            if (view.Chains.TryGetValue(chain, out var config)) newest = config.Epoch;
        }
        catch (Exception error) when (error is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            // The log cannot be reached: the reads go on to wait for members.
        }

        Step(chain, (core, effects) => core.OnLogged(newest, asked, effects));
    }

    private async Task RecordOpenedAsync(ChainId chain)
    {
        var epoch = Epoch.None;
        lock (_gate)
        {
            if (Find(chain) is not { IsHead: true, IsOpen: true } core || !_opening.Add(chain)) return;
            epoch = core.Epoch;
        }

        while (!_stop.IsCancellationRequested)
        {
            try
            {
                using var limit = new CancellationTokenSource(_options.CallLimit, _time);
                await _directory.OpenedAsync(chain, epoch, limit.Token);
                break;
            }
            catch (Exception error)
                when (error is CorfuException or OperationCanceledException or ObjectDisposedException)
            {
                if (!await PauseAsync()) break;
            }

            lock (_gate)
            {
                if (Find(chain) is not { IsHead: true } core || core.Epoch != epoch) break;
            }
        }

        lock (_gate)
        {
            _opening.Remove(chain);
            // A later epoch that has opened meanwhile found this one at work.
            if (_stop.IsCancellationRequested || Find(chain) is not { } core || core.Epoch == epoch) return;
        }

        _ = RecordOpenedAsync(chain);
    }

    private async Task RenewAsync(ChainId chain)
    {
        var epoch = Epoch.None;
        lock (_gate)
        {
            if (Find(chain) is not { IsHead: true } core) return;
            epoch = core.Epoch;
        }

        try
        {
            using var limit = new CancellationTokenSource(_options.CallLimit, _time);
            await _directory.TryChangeAsync(chain, epoch, new ChainChange.Renew(), limit.Token);
        }
        catch (Exception error) when (error is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            // The head asks again before its versions run out.
        }
    }

    // False: the node ends.
    private async Task<bool> PauseAsync()
    {
        try
        {
            await Task.Delay(_options.Retry, _time, _stop.Token);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }
}
