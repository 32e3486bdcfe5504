namespace Craq.Chains;

/// <summary>Marks of the tail beside the chain's answers (CRAQ 4.2): the head answers its clients sooner, and objects
/// are clean sooner. A lost one costs a confirmation.</summary>
internal sealed partial class ChainCore
{
    // At a tail: the members that the chain's answers reach by other members. None where the way is short.
    private ImmutableArray<MarkedMember> _marked = [];

    private sealed class MarkedMember(NodeAddress address)
    {
        public NodeAddress Address => address;

        /// <summary>The newest mark that went there.</summary>
        public ObjectVersion Sent { get; set; }

        /// <summary>At most one is under way: marks that rise meanwhile are one message.</summary>
        public bool IsUnderWay { get; set; }
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
        foreach (var member in _marked)
        {
            if (member.Address.Id == call.To.Id) member.IsUnderWay = false;
        }

        SendMarks(effects);
    }

    // The predecessor has the mark by the answer to its records.
    private void PlanMarks()
    {
        _marked = [];
        if (!IsTail) return;
        var config = _view!.Config;
        var isFar = config.Members.Any(member => member.Datacenter != config.Tail.Datacenter);
        if (!isFar && config.Options.Values != ValuePath.Relay) return;
        _marked = [.. Enumerable.Range(0, Math.Max(0, config.Members.Length - 2))
            .Select(place => new MarkedMember(_view.Address(place)))];
    }

    private void SendMarks(ChainEffects effects)
    {
        if (_fault is not null || !IsOpen) return;
        foreach (var member in _marked)
        {
            if (member.IsUnderWay || member.Sent >= _mark) continue;
            (member.IsUnderWay, member.Sent) = (true, _mark);
            effects.Calls.Add(new ChainCall(Id, member.Address, new MarkedRequest(Epoch, Id, _mark), 0));
        }
    }
}
