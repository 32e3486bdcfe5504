using Craq.Relay;

namespace Craq.Chains;

/// <summary>Values beside the chain (CRAQ 4.2): each member keeps what the tree brings, and takes it when its
/// predecessor has sent the record's heads. What becomes durable and passes on is the whole record (C2).</summary>
internal sealed partial class ChainCore
{
    // Tags of fetches: a head's that collects, a member's that lacks a relayed value.
    private const long Collecting = 0;
    private const long Lacking = 1;

    // Relayed records of this epoch, above the newest record here.
    private readonly Candidates _candidates;

    // The predecessor's requests from the first one that waits for a relayed value, in their order. Each is answered
    // once: when its turn comes, or when the epoch or the chain at this node ends.
    private readonly LinkedList<Parked> _parked = new();
    private long _parkedBytes;

    // A fetch for the first of them is under way; the next one is not made before that stamp.
    private bool _isFetchingValue;
    private long _fetchValueAt;

    // The members that this one passes values on to; none where the chain's option is the chain.
    private ImmutableArray<int> _children = [];

    private sealed record Parked(ReplicateRequest Request, ReplyTo To, long Arrived, long Bytes);

    /// <summary>A record ahead of its place: passed on and kept.</summary>
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

    // False: the record is small or has no way beside the chain, or the node passes on as much as it may.
    private bool TryRelay(byte[] record, ChainEffects effects)
    {
        var values = record.Length - RecordCodec.HeadsLengthOf(record);
        if (_children.IsEmpty || values < _options.RelayFrom) return false;
        if (!_budget.Relayed.TrySend((long)record.Length * _children.Length)) return false;
        foreach (var child in _children)
        {
            effects.Calls.Add(new ChainCall(Id, _view!.Address(child), new ValuesRequest(Epoch, Id, record), 0));
        }

        return true;
    }

    // Behind what waits already. The connection's buffer is not the request's own.
    private void Park(ReplicateRequest request, ReplyTo to, ChainEffects effects)
    {
        var bytes = request.Records.Sum(static record => (long)record.Length);
        if (_parkedBytes + bytes > _options.WindowBytes)
        {
            effects.Answer(to, Refused(request, Status.Overloaded));
            return;
        }

        _parkedBytes += bytes;
        _parked.AddLast(new Parked(request.ToOwned(), to, effects.Now.Stamp, bytes));
        FetchValue(effects);
    }

    // Takes what can be taken of the requests that wait.
    private void Resume(ChainEffects effects)
    {
        while (_parked.First is { } first)
        {
            var (request, to, _, bytes) = first.Value;
            // A fault answers all that wait; this one has its answer then.
            _parked.Remove(first);
            _parkedBytes -= bytes;
            try
            {
                if (TryTake(request, to, effects)) continue;
            }
            catch (MalformedDataException)
            {
                effects.Answer(to, Refused(request, Status.BadRequest));
                continue;
            }

            _parked.AddFirst(first);
            _parkedBytes += bytes;
            break;
        }

        FetchValue(effects);
    }

    // A relayed value that has not come in time: the predecessor has the record, whole and durable.
    private void FetchValue(ChainEffects effects)
    {
        if (_fault is not null || _parked.First is not { } first || _isFetchingValue || Index == 0) return;
        var now = effects.Now.Stamp;
        if (now < _fetchValueAt || now - first.Value.Arrived < _options.RelayWait.Ticks) return;
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
        foreach (var parked in _parked) effects.Answer(parked.To, Refused(parked.Request, status));
        _parked.Clear();
        _candidates.Clear();
        _parkedBytes = 0;
        _isFetchingValue = false;
        _fetchValueAt = 0;
    }
}
