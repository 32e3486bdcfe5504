namespace Salus.Region.Recovery;

/// <summary>The recovery of one region in one generation at one member: (1) end the generation before, (2) read, (3)
/// adopt one prefix with all members and open behind it, (4) record the opening. The primary proposes and records; the
/// others answer its pass.</summary>
internal sealed class GenerationRecovery
{
    private readonly RecoveryPorts _ports;
    private readonly RegionKey _key;
    private readonly RegionGeneration _generation;
    private readonly MemberSet _members;
    private readonly int _me;
    private readonly PrefixBuilder _builder;
    private readonly TaskCompletionSource<RecoveredRegion> _adopted =
        new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Steps go one at a time: a pass that comes during one is told to come again.
    private readonly SemaphoreSlim _step = new(1);

    // Null: still reading.
    private RegionPrefix? _prefix;

    // The newest opening that this member has signed; its index never falls (S2).
    private RecordHead? _signed;

    private CancellationToken _cancelled;
    private bool _isOver;

    // The answer to the pass that has succeeded.
    private AdoptResponse? _answer;

    public GenerationRecovery(RecoveryPorts ports, RegionKey key, VolumeState volume)
    {
        (_ports, _key, _generation) = (ports, key, volume.Regions[key.Region].Current);
        _members = _generation.Set;
        _me = _members.IndexOf(ports.Signer.Incarnation);
        _builder = new PrefixBuilder(ports, key, volume);
    }

    public Epoch Generation => _generation.Number;

    /// <summary>Called once.</summary>
    public async Task<RecoveredRegion> RunAsync(CancellationToken cancellationToken)
    {
        _cancelled = cancellationToken;
        try
        {
            await StepAsync(() => _builder.BuildAsync(cancellationToken));
            return _me == 0 ? await ProposeAsync() : await _adopted.Task.WaitAsync(cancellationToken);
        }
        catch
        {
            await _step.WaitAsync(CancellationToken.None);
            _prefix = null;
            _isOver = true;
            await _builder.CloseAsync();
            _step.Release();
            throw;
        }
    }

    /// <summary>A pass that has come to this member.</summary>
    public async Task<AdoptResponse> AdoptAsync(AdoptRequest request)
    {
        if (request.Signatures.Length != _me || _me == 0) return Refuse(SalusStatus.WrongMember);
        if (!await _step.WaitAsync(TimeSpan.Zero)) return Refuse(SalusStatus.Pending);
        try
        {
            if (_isOver) return Refuse(Status.Sealed);
            if (_answer is { } answer) return _signed == request.Head ? answer : Refuse(Status.Conflict);
            if (_prefix is null) return Refuse(SalusStatus.Pending);
            if (IsBehind(request, _prefix)) await ExtendAsync(StoresBefore(_me));
            return await AgreeAsync(request, _prefix);
        }
        catch (Exception error) when (error is IOException or MalformedDataException or OperationCanceledException)
        {
            return Refuse(SalusStatus.Pending);
        }
        finally
        {
            _step.Release();
        }
    }

    // The proposal has records that this member has not found, or others of the same length.
    private static bool IsBehind(AdoptRequest request, RegionPrefix prefix) =>
        prefix.LastIndex < request.Head.Index - 1
        || (prefix.LastIndex == request.Head.Index - 1 && prefix.Chain != request.Head.Previous);

    private async Task StepAsync(Func<Task<RegionPrefix>> make)
    {
        await _step.WaitAsync(_cancelled);
        try
        {
            _prefix = await MakeAsync(make);
        }
        finally
        {
            _step.Release();
        }
    }

    private async Task ExtendAsync(ImmutableArray<StoreId> stores) =>
        _prefix = await MakeAsync(() => _builder.ExtendAsync(stores, _cancelled));

    private async Task<RegionPrefix> MakeAsync(Func<Task<RegionPrefix>> make)
    {
        while (true)
        {
            try
            {
                return await make();
            }
            catch (Exception error) when (error is IOException or MalformedDataException)
            {
                // A file of the own store is damaged; the next attempt takes it from a peer.
                await _ports.PauseAsync(_cancelled);
            }
        }
    }

    // A prefix that is longer than the proposed one counts: the proposer has not seen all (S10).
    private async Task<AdoptResponse> AgreeAsync(AdoptRequest request, RegionPrefix prefix)
    {
        var head = prefix.HeadOf(_key, Generation);
        if (prefix.LastIndex >= request.Head.Index || prefix.Chain != request.Head.Previous)
        {
            return prefix.LastIndex < request.Head.Index - 1
                ? Refuse(SalusStatus.Pending)
                : new AdoptResponse(SalusStatus.Gap, Generation)
                {
                    LastIndex = prefix.LastIndex,
                    Chain = prefix.Chain,
                    Member = _ports.Signer.Incarnation,
                };
        }

        if (head != request.Head || !AreValid(head, prefix.Opening, request.Signatures, 0))
            return Refuse(Status.Conflict);
        if (TrySign(head, prefix.Opening) is not { } own) return Refuse(SalusStatus.Pending);
        var behind = ImmutableArray<OpeningSignatures>.Empty;
        if (_me < _members.Members.Length - 1)
        {
            var answer = await PassAsync(request with { Signatures = request.Signatures.Add(own) });
            if (answer is not { IsOk: true }) return answer ?? Refuse(SalusStatus.Pending);
            behind = answer.Signatures;
            if (behind.Length != _members.Members.Length - _me - 1 || !AreValid(head, prefix.Opening, behind, _me + 1))
                return Refuse(Status.Conflict);
        }

        if (!await AppendAsync(head, prefix.Opening, [.. request.Signatures, own, .. behind]))
            return Refuse(SalusStatus.Pending);
        var recovered = HandOver(prefix, head);
        _answer = new AdoptResponse(Status.Ok, Generation) { Signatures = [own, .. behind] };
        _adopted.TrySetResult(recovered);
        return _answer;
    }

    private async Task<RecoveredRegion> ProposeAsync()
    {
        while (true)
        {
            var (head, opening) = (_prefix!.HeadOf(_key, Generation), _prefix.Opening);
            if (TrySign(head, opening) is { } own)
            {
                var (signatures, longer) = await CollectAsync(head, own);
                if (longer is { } member)
                    await StepAsync(() => _builder.ExtendAsync([member.Store], _cancelled));
                else if (!signatures.IsEmpty && await AppendAsync(head, opening, signatures))
                    return await RecordAsync(head, signatures);
            }

            await _ports.PauseAsync(_cancelled);
        }
    }

    // No signatures: a member is not ready; or the member that can show a longer prefix.
    private async Task<(ImmutableArray<OpeningSignatures> Signatures, RegionMember? Longer)> CollectAsync(
        RecordHead head, OpeningSignatures own)
    {
        if (_members.Members.Length == 1) return ([own], null);
        var prefix = _prefix!;
        var answer = await PassAsync(
            new AdoptRequest(Generation, head, prefix.Opening, prefix.StoresRead, [own]));
        if (answer?.Status == SalusStatus.Gap && !Planted.Is("first-log-wins"))
            return ([], _generation.Find(answer.Member));
        return answer is { IsOk: true } && answer.Signatures.Length == _members.Members.Length - 1
            && AreValid(head, prefix.Opening, answer.Signatures, 1)
                ? ([own, .. answer.Signatures], null)
                : ([], null);
    }

    private async Task<RecoveredRegion> RecordAsync(
        RecordHead head, ImmutableArray<OpeningSignatures> signatures)
    {
        var prefix = _prefix!;
        var opening = new RegionOpening(
            head.Index, head.Chain, prefix.Opening.Run, prefix.Opening.Last, prefix.StoresRead);
        var certificate = new Certificate(Generation, [.. signatures.Select(static one => one.Opening)]);
        while (true)
        {
            try
            {
                // Refused behind a newer generation, which cancels this recovery (S6).
                if (await _ports.Map.RecoveredAsync(_key, Generation, opening, certificate, _cancelled) is null)
                    return HandOver(prefix, head);
            }
            catch (CorfuException)
            {
                // The log cannot be reached, or has taken the record without an answer: recorded twice it is the same.
            }

            await _ports.PauseAsync(_cancelled);
        }
    }

    private static RecoveredRegion HandOver(RegionPrefix prefix, RecordHead head) =>
        prefix.Replay.Finish(prefix.Proof) with { Index = head.Index, Chain = head.Chain };

    private async ValueTask<AdoptResponse?> PassAsync(AdoptRequest request)
    {
        var next = _generation.Members[request.Signatures.Length];
        return _ports.Map.Nodes.Find(next.Store) is { } node && node.Incarnation == next.Incarnation
            ? await _ports.TryCallAsync(node.RegionAddress, request, _cancelled)
            : null;
    }

    // Null: the lease has ended, or another opening was signed at the index.
    private OpeningSignatures? TrySign(RecordHead head, Opening opening)
    {
        if (!_ports.Map.IsHeld) return null;
        if (_signed is { } signed && (head.Index < signed.Index || (head.Index == signed.Index && head != signed)))
            return null;
        _signed = head;
        return new OpeningSignatures(_ports.Signer.Sign(head.Logged), _ports.Signer.Sign(StatementOf(head, opening)));
    }

    private bool AreValid(
        RecordHead head, Opening opening, ImmutableArray<OpeningSignatures> signatures, int first)
    {
        var statement = StatementOf(head, opening);
        for (var i = 0; i < signatures.Length; i++)
        {
            var signer = _members.Members[first + i];
            if (!signatures[i].Logged.IsOf(signer, head.Logged) || !signatures[i].Opening.IsOf(signer, statement))
                return false;
        }

        return true;
    }

    private Statement StatementOf(RecordHead head, Opening opening) =>
        Statement.Opening(_key, Generation, head.Index, head.Chain, opening.Last);

    // False: the store does not take it now.
    private async Task<bool> AppendAsync(
        RecordHead head, Opening opening, ImmutableArray<OpeningSignatures> signatures)
    {
        var certificate = new Certificate(Generation, [.. signatures.Select(static one => one.Logged)]);
        if (_ports.Log.TryAppend(new RegionRecord(head, certificate, opening.Encode()), out var lsn) != Status.Ok)
            return false;
        await _ports.Log.WaitDurableAsync(lsn);
        return true;
    }

    // The members before this one have copied what they propose.
    private ImmutableArray<StoreId> StoresBefore(int member) =>
        [.. _generation.Members.Take(member).Select(static before => before.Store)];

    private AdoptResponse Refuse(Status status) => new(status, Generation);
}
