namespace Salus.Region.Recovery;

/// <summary>The admitted generations of a region, each with the part of the log that is its own: from its opening to
/// the next one's (S9). Immutable.</summary>
/// <remarks>A generation that was replaced before it was admitted has no part: it never took a batch, and may have been
/// read from damaged stores.</remarks>
internal sealed class LogLine
{
    // Invariant: ascending by the opening's index, and no index twice.
    private readonly ImmutableArray<LinePart> _parts;

    private LogLine(ImmutableArray<LinePart> parts) => _parts = parts;

    /// <summary>The index of the newest opening: the log has been there, and everything below.</summary>
    public long AnchorIndex => _parts.IsEmpty ? 0 : _parts[^1].Opening.Index;

    public static LogLine Of(RegionState region)
    {
        var parts = new List<LinePart>();
        foreach (var generation in region.Past.Add(region.Current))
        {
            if (generation.Opening is not { } opening) continue;
            if (!generation.IsAdmitted && !Planted.Is("unadmitted-anchors")) continue;
            // All that stood at the opening's index and above is over.
            parts.RemoveAll(before => before.Opening.Index >= opening.Index);
            parts.Add(new LinePart(generation.Set, opening));
        }

        return new LogLine([.. parts]);
    }

    /// <summary>False: an opening that Tango knows stands at the record's index, and is another record.</summary>
    public bool MayHave(in RecordHead head)
    {
        foreach (var part in _parts)
        {
            if (part.Opening.Index == head.Index) return part.Opening.Chain == head.Chain;
        }

        return true;
    }

    /// <summary>Whether the record, and with it all that its chain covers, is proven to be the region's.</summary>
    public bool Proves(in RecordHead head, Certificate certificate)
    {
        // Below the first opening that is remembered, the chain alone tells: it leads up to that opening.
        if (LiveAt(head.Index) is not { } live || !MayHave(head)) return false;
        if (live.Opening.Index == head.Index) return true;
        var signers = live.Members;
        if (Planted.Is("older-generation-counts"))
            signers = MembersOf(head.Generation) ?? signers;
        return head.Generation == signers.Generation && certificate.Proves(head.Logged, signers);
    }

    private MemberSet? MembersOf(Epoch generation) =>
        _parts.FirstOrDefault(part => part.Members.Generation == generation)?.Members;

    private LinePart? LiveAt(long index)
    {
        for (var i = _parts.Length - 1; i >= 0; i--)
        {
            if (_parts[i].Opening.Index <= index) return _parts[i];
        }

        return null;
    }

    private sealed record LinePart(MemberSet Members, RegionOpening Opening);
}
