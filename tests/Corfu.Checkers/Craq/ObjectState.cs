using System.Globalization;

namespace Corfu.Checkers;

/// <summary>The model of one object.</summary>
/// <param name="Value">Null: absent.</param>
/// <param name="Version">The version of the newest write, a deletion too; where it is not exact, at least that
/// version.</param>
/// <param name="IsExact">False behind a write whose version is not known.</param>
/// <param name="Expiry">From then on the object reads as absent; 0: none.</param>
internal readonly record struct ObjectState(string? Value, long Version, bool IsExact, long Expiry = 0)
{
    public static ObjectState Absent { get; } = new(null, 0, true);

    /// <summary>Deleted, without a version of its own.</summary>
    private ObjectState Ended => this with { Value = null, Expiry = 0 };

    /// <summary>Behind its expiry the object is absent: as the version that it is, or as a later one that deleted
    /// it.</summary>
    public ObjectState Expired => new(null, IsExact ? Version - 1 : Version, false);

    /// <summary>Whether the state may be shown so; a version that was not known is known then.</summary>
    public bool Shows(long version, bool isValueTold, string? value, out ObjectState after)
    {
        after = this;
        if (isValueTold && value != Value) return false;
        if (version == 0) return Value is null;
        if (IsExact) return version == Version;
        if (version <= Version) return false;
        after = this with { Version = version, IsExact = true };
        return true;
    }

    public bool Holds(ObjectTest test, out ObjectState after)
    {
        after = this;
        switch (test.Kind)
        {
            case ObjectTestKind.Exists: return Value is not null;
            case ObjectTestKind.Absent: return Value is null;
            case ObjectTestKind.Value: return Value == test.Value;
            default:
                return test.Version == 0
                    ? Value is null
                    : Value is not null && Shows(test.Version, false, null, out after);
        }
    }

    /// <summary>Whether a refusal by this test is right.</summary>
    public bool Refuses(ObjectTest test) =>
        !Holds(test, out _) || (test.Kind == ObjectTestKind.Version && test.Version > 0 && !IsExact);

    /// <summary>The value behind an act, with the version as before; null: the act does not fit.</summary>
    public ObjectState? After(ObjectAct act)
    {
        switch (act.Kind)
        {
            case ObjectActKind.Put: return this with { Value = act.Value, Expiry = act.Expiry };
            case ObjectActKind.Clear: return Ended;
            case ObjectActKind.Delete: return Value is null ? null : Ended;
            case ObjectActKind.Append: return Value is null ? null : this with { Value = Value + act.Value };
            case ObjectActKind.Prepend: return Value is null ? null : this with { Value = act.Value + Value };
            case ObjectActKind.Touch: return Value is null ? null : this with { Expiry = act.Expiry };
            default:
                if (!ulong.TryParse(Value, NumberStyles.None, CultureInfo.InvariantCulture, out var number))
                    return null;
                var sum = Sum(number, act.Delta);
                return act.Sum is { } told && told != sum
                    ? null
                    : this with { Value = sum.ToString(CultureInfo.InvariantCulture) };
        }
    }

    public override string ToString() => $"{Value ?? "absent"}@{(IsExact ? "" : ">")}{ObjectVersions.Show(Version)}";

    private static ulong Sum(ulong number, long delta)
    {
        if (delta >= 0) return unchecked(number + (ulong)delta);
        var less = (ulong)-(delta + 1) + 1;
        return less > number ? 0 : number - less;
    }
}
