using Craq.Relay;
using Craq.Storage;

namespace Craq.Chains;

internal sealed partial class ChainCore
{
    // Tags of fetches: a head's that collects, a member's that lacks a relayed value.
    private const long Collecting = 0;
    private const long Lacking = 1;

    private readonly Successor _successor;

    // Relayed records of this epoch, above the newest record here.
    private readonly Candidates _candidates;

    // Each is answered once: when its turn comes, or when the epoch or the chain at this node ends.
    private readonly ParkedRequests _parked;

    // A fetch for the first of them is under way; the next one is not made before that stamp.
    private bool _isFetchingValue;
    private long _fetchValueAt;

    // The members that this one passes values on to; none where the chain's option is the chain.
    private ImmutableArray<int> _children = [];

    private TailMarks _tailMarks = TailMarks.None;

    /// <summary>Records of the predecessor, in order. Answered when the mark has reached the last one; a probe, which
    /// has none, at once.</summary>
    public void Replicate(ReplicateRequest request, ReplyTo to, ChainEffects effects)
    {
        if (RefusesMember(request.Epoch) is { } refusal)
        {
            effects.Answer(to, Refused(request, refusal));
            return;
        }

        // The records up to the mark were durable here (C19).
        if (request.Mark >= ObjectVersion.First(Epoch) && _last < ObjectVersion.First(Epoch))
        {
            Leave(effects);
            effects.Answer(to, Refused(request, CraqStatus.WrongRole));
            return;
        }

        var isBehind = _parked.Count > 0 && request.Previous > _last && !request.Records.IsEmpty;
        if (isBehind || !TryTake(request, to, effects)) Park(request, to, effects);
        else Resume(effects);
    }

    // False: the request waits for a relayed value, and has no answer.
    private bool TryTake(ReplicateRequest request, ReplyTo to, ChainEffects effects)
    {
        var taken = request.Previous > _last ? CraqStatus.Gap : Take(request.Records, effects);
        // A mark in this epoch, of a member: what is up to it is committed.
        TakeMark(ObjectVersion.Min(request.Mark, _last), effects);
        if (taken is not { } status) return false;
        if (status != Status.Ok || request.Records.IsEmpty)
            effects.Answer(to, status is Status.Ok or CraqStatus.Gap
                ? new ReplicateResponse(status, Epoch) { Last = _last, Mark = _mark }
                : Refused(request, status));
        else
        {
            var until = RecordCodec.VersionOf(request.Records[^1].Span);
            var answer = new WaitingAnswer.Taken(to, Epoch);
            if (until <= _mark) Release(answer, effects);
            else _untilMark.Enqueue(answer, until);
        }

        return true;
    }

    /// <summary>Records for a head that collects, or for a learner.</summary>
    public void Fetch(FetchRequest request, ReplyTo to, ChainEffects effects)
    {
        if (RefusesMember(request.Epoch) is { } refusal)
        {
            effects.Answer(to, new FetchResponse(refusal, Epoch) { View = ViewFor(refusal) });
            return;
        }

        if (request.After < _run.Floor)
        {
            effects.Answer(to, new FetchResponse(CraqStatus.Forgotten, Epoch));
            return;
        }

        var (records, _) = Batch(request.After, request.CommittedOnly ? _mark : _durable,
            Math.Min(request.MaxBytes, MessageLimits.ReadBudget), null);
        effects.Answer(to, new FetchResponse(Status.Ok, Epoch)
        {
            Last = _durable,
            Mark = _mark,
            Records = records,
        });
    }

    /// <summary>Whether this member is exactly at that epoch, for the reads of another one (C6).</summary>
    public ChainConfirmation Confirm(Epoch epoch) =>
        new(_fault is null && IsFull && epoch == Epoch && IsOpen, Epoch, _mark);

    /// <summary>The successor's answer; null: none came.</summary>
    public void OnReplicated(ChainCall call, ReplicateResponse? response, ChainEffects effects)
    {
        if (call.Request.Epoch != Epoch || !IsFull) return;
        var request = (ReplicateRequest)call.Request;
        var isCurrent = call.Tag == _successor.Generation;
        switch (response?.Status)
        {
            case Status.Ok:
                if (isCurrent && _successor.State == SuccessorState.Probing)
                    _successor.BecomeStream(response.Last, _last, Later(effects));
                else if (isCurrent) _successor.Remove(request.Records.Length, SizeOf(request));
                TakeMark(response.Mark, effects);
                break;
            case CraqStatus.Gap:
                // C2: what the successor lacks goes first.
                if (isCurrent) _successor.BecomeStream(response.Last, _last, Later(effects));
                TakeMark(response.Mark, effects);
                break;
            case Status.NotInstalled:
                if (isCurrent) _successor.BecomeProbe(Later(effects));
                effects.Calls.Add(new ChainCall(Id, call.To, new InstallChainRequest(Epoch, _view!), 0));
                break;
            default:
                if (response?.View is { } view) effects.Views.Add(view);
                if (isCurrent) _successor.BecomeProbe(Later(effects));
                break;
        }

        Send(effects);
    }

    // Sends what is durable here to the successor (C2), within the window.
    private void Send(ChainEffects effects)
    {
        if (_fault is not null || NextMember is not { } next) return;
        if (_successor.MayProbe(effects.Now.Stamp))
        {
            _successor.BecomeProbing();
            Probe(next, effects);
        }

        var until = Planted.Is("passes-on-before-durable") ? _last : _durable;
        while (_successor.State == SuccessorState.Stream && _successor.Sent < until && _successor.HasRoom)
        {
            if (_successor.Sent < _run.Floor)
            {
                // The successor lacks what has left the memory: it fetches, or is replaced.
                _successor.BecomeProbe(Later(effects));
                return;
            }

            var (records, bytes) = Batch(_successor.Sent, until, _options.BatchBytes, _successor.WholeUntil);
            effects.Calls.Add(new ChainCall(Id, next,
                new ReplicateRequest(Epoch, Id, _successor.Sent, _mark, records), _successor.Generation));
            _successor.Add(RecordCodec.VersionOf(records[^1].Span), records.Length, bytes, Later(effects));
        }

        // An answer was lost, or had been given before its mark was known.
        if (!_successor.IsQuiet(effects.Now.Stamp) || _mark >= ObjectVersion.Min(_successor.Sent, _last)) return;
        _successor.Add(_successor.Sent, 0, 0, Later(effects));
        Probe(next, effects);
    }

    private void Probe(NodeAddress next, ChainEffects effects) => effects.Calls.Add(new ChainCall(Id, next,
        new ReplicateRequest(Epoch, Id, _durable, _mark, []), _successor.Generation));

    // Records behind that one, as many as fit into the limit; the first one always does. Relayed ones above the last
    // version go without their values, and count with them; null: all are whole.
    private (ImmutableArray<ReadOnlyMemory<byte>> Records, long Bytes) Batch(
        ObjectVersion after, ObjectVersion until, long limit, ObjectVersion? wholeUntil)
    {
        var records = ImmutableArray.CreateBuilder<ReadOnlyMemory<byte>>();
        var (sent, bytes) = (0L, 0L);
        foreach (var held in _run.Behind(after))
        {
            if (held.Version > until || records.Count == ReplicateRequest.MaxRecords) break;
            var isAlone = held.IsRelayed && wholeUntil < held.Version;
            var record = isAlone ? held.Bytes.AsMemory(0, RecordCodec.HeadsLengthOf(held.Bytes)) : held.Bytes;
            if (records.Count > 0 && sent + record.Length > limit) break;
            records.Add(record);
            sent += record.Length;
            bytes += held.Bytes.Length;
        }

        return (records.ToImmutable(), bytes);
    }

    // Takes records behind the last one. Those that are held already must be the same (C1). Null: the values of the
    // next one have not come; those before it are taken.
    private Status? Take(ImmutableArray<ReadOnlyMemory<byte>> records, ChainEffects effects)
    {
        foreach (var sent in records)
        {
            var isRelayed = RecordCodec.AreHeadsAlone(sent.Span);
            if (isRelayed && RecordCodec.VersionOf(sent.Span) <= _last && RecordCodec.ChainOf(sent.Span) == Id)
            {
                if (IsHeld(sent.Span)) continue;
                return Differs(RecordCodec.VersionOf(sent.Span), effects);
            }

            var bytes = isRelayed ? _candidates.Find(sent.Span) : sent.ToArray();
            if (bytes is null) return WaitsFor(sent.Span);
            // A relayed record was checked when it came.
            var record = RecordCodec.Decode(bytes, valuesChecked: !isRelayed);
            if (record.Chain != Id || record.Version.Epoch > Epoch) return Status.BadRequest;
            // Refused before any of it is kept.
            if (record.Kind == ChainRecordKind.Lock) HeldLock.Of(record, bytes);
            if (record.Version <= _last)
            {
                if (IsHeld(bytes)) continue;
                return Differs(record.Version, effects);
            }

            if (record.Previous > _last) return CraqStatus.Gap;
            if (record.Previous < _last)
            {
                Fail($"The chain {Id} goes on behind {record.Previous}, and this node has {_last}: copy its folder "
                    + "for a report, then give the node a new one.", effects);
                return Status.Failed;
            }

            var use = record.Kind == ChainRecordKind.Begin ? StoreUse.Vital : UseOf(record.Writes);
            var admitted = _store.Admit(bytes.Length, use);
            if (admitted != Status.Ok) return admitted;
            Append(record, bytes, effects, isRelayed);
            if (isRelayed) CraqTelemetry.ValuesRelayed.Add(1);
        }

        return Status.Ok;
    }

    // A record that has left the memory is not compared; a run in memory that lacks the record is another log.
    private bool IsHeld(ReadOnlySpan<byte> bytes)
    {
        var version = RecordCodec.VersionOf(bytes);
        return _run.Find(version) is { } held ? held.Bytes.AsSpan().StartsWith(bytes) : version <= _run.Floor;
    }

    private Status Differs(ObjectVersion version, ChainEffects effects)
    {
        Fail($"The chain {Id} has two records of version {version}: copy this node's folder for a report, then give "
            + "the node a new one.", effects);
        return Status.Failed;
    }

    // Heads whose values are not here.
    private Status? WaitsFor(ReadOnlySpan<byte> heads)
    {
        if (RecordCodec.ChainOf(heads) != Id || RecordCodec.VersionOf(heads).Epoch > Epoch) return Status.BadRequest;
        return RecordCodec.PreviousOf(heads) > _last ? CraqStatus.Gap : null;
    }

    /// <summary>A record ahead of its place (CRAQ 4.2): passed on along the tree, and kept until the predecessor has
    /// sent its heads. What becomes durable then, and passes on in the chain, is the whole record (C2).</summary>
    public void Values(ValuesRequest request, ReplyTo to, ChainEffects effects)
    {
        if (RefusesMember(request.Epoch) is { } refusal)
        {
            effects.Answer(to, request.Fail(refusal, Epoch));
            return;
        }

        var bytes = request.Record.ToArray();
        // Checks the values: what is kept is a whole record.
        var record = RecordCodec.Decode(bytes);
        if (record.Chain != Id || record.Version.Epoch != Epoch)
        {
            effects.Answer(to, request.Fail(Status.BadRequest, Epoch));
            return;
        }

        TryRelay(bytes, effects);
        effects.Answer(to, request.Fail(Status.Ok, Epoch));
        if (record.Version <= _last) return;
        _candidates.Put(record.Version, bytes);
        Resume(effects);
    }

    /// <summary>The mark of this epoch's tail (C4).</summary>
    public void Marked(MarkedRequest request, ReplyTo to, ChainEffects effects)
    {
        var refusal = RefusesMember(request.Epoch);
        if (refusal is null) TakeMark(ObjectVersion.Min(request.Mark, _last), effects);
        effects.Answer(to, request.Fail(refusal ?? Status.Ok, Epoch));
    }

    /// <summary>A member has its mark, or did not answer.</summary>
    public void OnMarked(ChainCall call, ChainEffects effects)
    {
        if (call.Request.Epoch != Epoch) return;
        _tailMarks.Ended(call.To.Id);
        SendMarks(effects);
    }

    private void SendMarks(ChainEffects effects)
    {
        if (_fault is not null || !IsOpen) return;
        foreach (var member in _tailMarks.Next(_mark))
            effects.Calls.Add(new ChainCall(Id, member, new MarkedRequest(Epoch, Id, _mark), 0));
    }

    // False: the record is small or has no way beside the chain, or the node passes on as much as it may.
    private bool TryRelay(byte[] record, ChainEffects effects)
    {
        var values = record.Length - RecordCodec.HeadsLengthOf(record);
        if (_children.IsEmpty || values < _options.RelayFrom) return false;
        if (!_budget.Relayed.TrySend((long)record.Length * _children.Length)) return false;
        foreach (var child in _children)
            effects.Calls.Add(new ChainCall(Id, _view!.Address(child), new ValuesRequest(Epoch, Id, record), 0));
        return true;
    }

    // The connection's buffer is not the request's own.
    private void Park(ReplicateRequest request, ReplyTo to, ChainEffects effects)
    {
        if (!_parked.HasRoom(request))
        {
            effects.Answer(to, Refused(request, Status.Overloaded));
            return;
        }

        _parked.Add(new ParkedRequest(request.ToOwned(), to, effects.Now.Stamp));
        FetchValue(effects);
    }

    // Takes what can be taken of the requests that wait.
    private void Resume(ChainEffects effects)
    {
        // A fault answers all that wait; the one that is taken has its answer then.
        while (_parked.TakeFirst() is { } first)
        {
            try
            {
                if (TryTake(first.Request, first.To, effects)) continue;
            }
            catch (MalformedDataException)
            {
                effects.Answer(first.To, Refused(first.Request, Status.BadRequest));
                continue;
            }

            _parked.PutBack(first);
            break;
        }

        FetchValue(effects);
    }

    // A relayed value that has not come in time: the predecessor has the record, whole and durable.
    private void FetchValue(ChainEffects effects)
    {
        if (_fault is not null || _parked.First is not { } first || _isFetchingValue || Index == 0) return;
        var now = effects.Now.Stamp;
        if (now < _fetchValueAt || now - first.Arrived < _options.RelayWait.Ticks) return;
        _isFetchingValue = true;
        effects.Calls.Add(new ChainCall(Id, _view!.Address(Index - 1),
            new FetchRequest(Epoch, Id, _last, _options.BatchBytes, CommittedOnly: false), Lacking));
    }

    private void OnValueFetched(FetchResponse? response, ChainEffects effects)
    {
        _isFetchingValue = false;
        if (response is { IsOk: true, Records.Length: > 0 } && Take(response.Records, effects) == Status.Ok)
            CraqTelemetry.ValuesFetched.Add(response.Records.Length);
        else _fetchValueAt = Later(effects);
        Resume(effects);
    }

    // The epoch's head alone relays, and to this epoch's members.
    private void EndRelay(Status status, ChainEffects effects)
    {
        while (_parked.TakeFirst() is { } parked) effects.Answer(parked.To, Refused(parked.Request, status));
        _candidates.Clear();
        _isFetchingValue = false;
        _fetchValueAt = 0;
    }

    private Status? RefusesMember(Epoch epoch)
    {
        if (_fault is not null) return Status.Failed;
        if (epoch < Epoch) return Status.Sealed;
        if (epoch > Epoch) return Status.NotInstalled;
        return IsFull ? null : CraqStatus.WrongRole;
    }

    private ReplicateResponse Refused(ReplicateRequest request, Status status) =>
        ((ReplicateResponse)request.Fail(status, Epoch)) with { View = ViewFor(status) };

    private ChainView? ViewFor(Status status) =>
        status is Status.Sealed or CraqStatus.WrongRole ? _view : null;

    private long Later(ChainEffects effects) => effects.Now.Stamp + _options.Retry.Ticks;

    private static long SizeOf(ReplicateRequest request)
    {
        var bytes = 0L;
        foreach (var record in request.Records) bytes += RecordCodec.LengthOf(record.Span);
        return bytes;
    }
}
