using System.Buffers;
using Craq.Reads;
using Craq.Relay;
using Craq.Storage;

namespace Craq.Chains;

internal sealed partial class ChainCore
{
    // At a head that has not begun: each other full member's newest record, and when the member is asked again.
    private readonly Dictionary<NodeId, Collected> _collect = [];

    // The head has all that any full member has, and its Begin is in the log (C9).
    private bool _hasBegun;

    // A Fetch of this epoch's collection is under way; the next one is not made before that stamp.
    private bool _fetching;
    private long _fetchAt;

    private sealed class Collected
    {
        public ObjectVersion? Last { get; set; }

        public bool IsAsked { get; set; }

        public long AskAt { get; set; }
    }

    /// <summary>Takes a config of a higher epoch, and refuses lower ones from now on. The answer waits until it is
    /// durable (C12).</summary>
    public void Install(InstallChainRequest request, ReplyTo to, ChainEffects effects)
    {
        if (request.Epoch < Epoch)
        {
            effects.Answer(to, new InstallChainResponse(Status.Sealed, Epoch) { View = _view });
            return;
        }

        if (request.Epoch > Epoch && !Install(request.View, effects))
        {
            effects.Answer(to, request.Fail(Status.NoSpace, Epoch));
            return;
        }

        var answer = new WaitingAnswer.Installed(to, request.Epoch);
        if (_undurable.Count == 0 || Planted.Is("craq-install-not-durable")) Release(answer, effects);
        else _untilLsn.Enqueue((_undurable.Last().Lsn, answer));
    }

    /// <summary>Takes a config of a higher epoch that came without a request.</summary>
    /// <returns>False: the disk has no room for it.</returns>
    public bool Install(ChainView view, ChainEffects effects)
    {
        if (view.Config.Epoch <= Epoch) return true;
        var bytes = Encode(view);
        if (_store.Admit(bytes.Length, StoreUse.Vital) != Status.Ok) return false;
        var place = _store.Append(StoreRecordKind.Install, Id, new ObjectVersion(view.Config.Epoch.Value), bytes);
        _undurable.Enqueue((place.Lsn, ObjectVersion.None));
        effects.Appended.Add((place.Lsn, Id));
        Serve(view);
        EndEpoch(effects);
        Collect(effects);
        RaiseMark(effects);
        Send(effects);
        return true;
    }

    // C10, C19: a node that was no full member of the epoch before holds nothing that counts, unless it has learned.
    // A node without any record of the chain may be a member of the epochs before the first that opens: all members of
    // that one have installed it, and no member is promoted before. The base has not all of them: some do not count.
    private void Serve(ChainView view)
    {
        var config = view.Config;
        var wasKnown = _view is not null;
        var isMember = config.IndexOf(_self) >= 0;
        var isFirst = !wasKnown && _standing == ChainStanding.Outside && config.IsUnopened;
        if (Planted.Is("empty-node-is-full")) isFirst = !wasKnown;
        if (isMember && (IsFull || _standing == ChainStanding.Complete || isFirst)) _standing = ChainStanding.Full;
        else if (IsFull) _standing = ChainStanding.Outside;
        _view = view;
        Plan();
        BeginCollecting();
    }

    // C19: what was durable here in this epoch is gone. The chain goes on without this member, or waits for a person.
    private void Leave(ChainEffects effects)
    {
        _standing = ChainStanding.Outside;
        Plan();
        BeginCollecting();
        EndEpoch(effects);
    }

    // The other members' parts in this one's work.
    private void Plan()
    {
        var config = _view?.Config;
        _round = IsFull ? RoundPlan.For(config!, _self) : null;
        _children = IsFull && config!.Options.Values == ValuePath.Relay ? RelayTree.ChildrenOf(config, Index) : [];
        _tailMarks = IsTail ? TailMarks.Of(_view!) : TailMarks.None;
    }

    private void BeginCollecting()
    {
        _hasBegun = IsHead && _last >= ObjectVersion.First(Epoch);
        _fetching = false;
        _collect.Clear();
        if (!IsHead || _hasBegun) return;
        foreach (var member in _view!.Config.Members)
        {
            if (member.Node != _self) _collect.Add(member.Node, new Collected());
        }
    }

    // Ends the requests that waited in the epoch before. A mutation's record may still be committed: a full member
    // goes on to wait.
    private void EndEpoch(ChainEffects effects)
    {
        _window.ForgetRefusals();
        EndBlocked(Status.Sealed, effects);
        EndRelay(Status.Sealed, effects);
        _successor.BecomeProbe(0);
        var waiting = new List<(WaitingAnswer Answer, ObjectVersion Version)>();
        while (_untilMark.TryDequeue(out var answer, out var version)) waiting.Add((answer, version));
        while (_untilDurable.TryDequeue(out var answer, out var version)) waiting.Add((answer, version));
        foreach (var (answer, version) in waiting)
        {
            if (answer is WaitingAnswer.Written written)
            {
                if (IsFull)
                {
                    _untilMark.Enqueue(written, version);
                    continue;
                }

                _budget.Waiting--;
                effects.Answer(written.To, new MutateResponse(CraqStatus.Unconfirmed, Epoch));
            }
            else if (answer is WaitingAnswer.Part part)
            {
                // The lead asks the head of this epoch: its records say the same, if they have it.
                _budget.Waiting--;
                effects.Answer(part.To, new PartResponse(Status.Sealed, Epoch) { View = _view });
            }
            else if (answer is WaitingAnswer.Refused refused) EndWaiter(refused.Waiter, Status.Sealed, effects);
            else Release(answer, effects);
        }

        foreach (var waiter in _rounds.Clear()) EndWaiter((RoundWaiter)waiter, Status.Sealed, effects);
    }

    private Response Installed(Epoch epoch) => epoch == Epoch
        ? new InstallChainResponse(Status.Ok, Epoch) { Last = _durable, Mark = _mark }
        : new InstallChainResponse(Status.Sealed, Epoch) { View = _view };

    // C9: the head installs the config at all full members, takes the longest log, and begins the epoch behind it.
    private void Collect(ChainEffects effects)
    {
        if (!IsHead || _hasBegun) return;
        if (Planted.Is("lost-back-propagation")) _collect.Clear();
        var now = effects.Now.Stamp;
        foreach (var (node, member) in _collect)
        {
            if (member.Last is not null || member.IsAsked || now < member.AskAt) continue;
            member.IsAsked = true;
            effects.Calls.Add(new ChainCall(Id, _view!.Find(node)!.Value, new InstallChainRequest(Epoch, _view), 1));
        }

        if (_fetching || now < _fetchAt || _collect.Values.Any(member => member.Last is null)) return;
        var longest = _collect.OrderByDescending(member => member.Value.Last!.Value).FirstOrDefault();
        // Another member has the Begin of this epoch, which its head alone writes.
        if (longest.Value?.Last >= ObjectVersion.First(Epoch)) Leave(effects);
        else if (longest.Value?.Last > _last)
        {
            _fetching = true;
            effects.Calls.Add(new ChainCall(Id, _view!.Find(longest.Key)!.Value,
                new FetchRequest(Epoch, Id, _last, _options.BatchBytes, CommittedOnly: false), Collecting));
        }
        else Begin(effects);
    }

    // Once an epoch: a Begin that was lost before it was durable had been seen nowhere.
    private void Begin(ChainEffects effects)
    {
        var record = new ChainRecord(Id, ChainRecordKind.Begin, ObjectVersion.First(Epoch), _last, [], []);
        var bytes = RecordCodec.Encode(record);
        if (_store.Admit(bytes.Length, StoreUse.Vital) != Status.Ok) return;
        Append(record, bytes, effects);
        _hasBegun = true;
    }

    /// <summary>A member's answer to a config; null: none came.</summary>
    public void OnInstalled(ChainCall call, InstallChainResponse? response, ChainEffects effects)
    {
        if (response?.View is { } view) effects.Views.Add(view);
        if (call.Request.Epoch != Epoch) return;
        if (response is { IsOk: true } && call.To.Id == NextMember?.Id
            && _successor.State == SuccessorState.Probe) _successor.BecomeProbe(0);
        if (_collect.TryGetValue(call.To.Id, out var member))
        {
            if (response is { IsOk: true }) member.Last = response.Last;
            else (member.IsAsked, member.AskAt) = (false, Later(effects));
        }

        Collect(effects);
        Send(effects);
    }

    /// <summary>Records that another member had and this one lacked; null: no answer.</summary>
    public void OnFetched(ChainCall call, FetchResponse? response, ChainEffects effects)
    {
        if (response?.View is { } view) effects.Views.Add(view);
        if (call.Request.Epoch != Epoch) return;
        if (call.Tag == Lacking)
        {
            OnValueFetched(response, effects);
            return;
        }

        if (!_fetching) return;
        _fetching = false;
        if (response is not { IsOk: true, Records.Length: > 0 } || Take(response.Records, effects) != Status.Ok)
            _fetchAt = Later(effects);
        else
        {
            TakeMark(ObjectVersion.Min(response.Mark, _last), effects);
            Collect(effects);
        }
    }

    private static byte[] Encode(ChainView view)
    {
        var output = new ArrayBufferWriter<byte>(256);
        var w = new WireWriter(output);
        w.View(view);
        w.Flush();
        return output.WrittenSpan.ToArray();
    }
}
