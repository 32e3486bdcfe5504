namespace Corfu.Checkers;

/// <summary>The part of a call that concerns one object.</summary>
internal sealed class ObjectStep
{
    public required ObjectCall Call { get; init; }

    public IReadOnlyList<ObjectTest> Tests { get; init; } = [];

    public IReadOnlyList<ObjectSeen> Seen { get; init; } = [];

    public IReadOnlyList<ObjectAct> Acts { get; init; } = [];

    /// <summary>The test that failed; null: none did.</summary>
    public ObjectTest? FailedTest { get; init; }

    /// <summary>The act that did not fit, behind <see cref="Acts"/>; null: all did.</summary>
    public ObjectAct? FailedAct { get; init; }

    public bool IsRefusal => FailedTest is not null || FailedAct is not null;

    public bool IsWrite => Acts.Count > 0 && !IsRefusal;

    /// <summary>False: it may have taken effect or not.</summary>
    public bool IsRequired => Call.Fate != ObjectFate.Unknown;

    /// <summary>The version that a step without a write is known to have met; 0: none.</summary>
    public long SeenVersion
    {
        get
        {
            foreach (var seen in Seen)
            {
                if (seen.Version > 0) return seen.Version;
            }

            foreach (var test in Tests)
            {
                if (test is { Kind: ObjectTestKind.Version, Version: > 0 }) return test.Version;
            }

            return IsRefusal ? Call.FailedVersion : 0;
        }
    }

    /// <summary>The place among the steps of known versions: a write before the reads of its version; 0: not
    /// known.</summary>
    public long Place => IsWrite
        ? Call.Version > 0 ? Call.Version * 2 : 0
        : SeenVersion is > 0 and var seen ? (seen * 2) + 1 : 0;

    /// <summary>The version of the chain at which it took place, where that is known and it wrote nothing to this
    /// object; 0: not known.</summary>
    public long Moment => !IsWrite && Call.Fate == ObjectFate.Done && Call.Writes ? Call.Version : 0;

    // An unknown write may take effect long after its caller was told so.
    private long Until => IsRequired && Call.End != ObjectHistory.Never ? Call.Until : ObjectHistory.Never;

    /// <summary>The state behind the step; null: the step cannot have taken place in this state. An object that expires
    /// while the call is under way may have been there or not. A step that writes nothing leaves that open, for steps
    /// beside it may have looked earlier.</summary>
    public ObjectState? After(ObjectState state)
    {
        if (state.Expiry == 0) return From(state);
        if (state.Expiry > Call.From && From(state) is { } live) return live;
        if (state.Expiry > Until || From(state.Expired) is not { } after) return null;
        return IsWrite || (after.IsExact && after.Version > state.Version) ? after : state;
    }

    private ObjectState? From(ObjectState state)
    {
        var at = state;
        foreach (var test in Tests)
        {
            if (!at.Holds(test, out at)) return null;
        }

        foreach (var seen in Seen)
        {
            if (!at.Shows(seen.Version, true, seen.Value, out at)) return null;
        }

        if (FailedTest is { } failed)
            return Call.FailedVersion > 0 && !at.Shows(Call.FailedVersion, false, null, out at)
                ? null
                : at.Refuses(failed) ? at : null;
        var before = at;
        foreach (var act in Acts)
        {
            if (at.After(act) is not { } next) return null;
            at = next;
        }

        if (FailedAct is { } unfit)
        {
            if (Call.FailedVersion > 0 && !before.Shows(Call.FailedVersion, false, null, out before)) return null;
            return at.After(unfit) is null ? before : null;
        }

        if (!IsWrite) return at;
        if (Call.Version == 0) return at with { IsExact = false };
        return Call.Version > before.Version ? at with { Version = Call.Version, IsExact = true } : null;
    }

    public override string ToString() => $"{Call}";
}
