using Corfu;

namespace Tango;

/// <summary>Entry of the directory about an object (Tango 3.2, Naming). All but its name is fixed at its
/// creation.</summary>
/// <param name="TypeName">The name given by <see cref="TangoObjectAttribute"/>.</param>
/// <param name="Group">The co-hosted group it belongs to, or null.</param>
/// <param name="VersionCapacity">Keys whose versions are kept.</param>
// All hosts decide alike by the group's streams (R20) and by the same kept versions (R18).
public sealed record DirectoryEntry(ObjectId Id, string Name, string TypeName, string? Group, int VersionCapacity)
{
    /// <summary>Position of the record that created the object. Names may return; no other object was created there
    /// under this one.</summary>
    public LogPosition Created { get; init; }

    /// <summary>Null: the object began empty. Otherwise it began as a copy of another one's past state, which a
    /// checkpoint of <see cref="Created"/> has.</summary>
    public ForkOrigin? Origin { get; init; }

    /// <summary>Null: it was created alone, or with its group. Otherwise where the record stands that added it to its
    /// group; it began empty there.</summary>
    public LogPosition? Birth { get; init; }

    /// <summary>Not null: a member that was deleted by the record there, out of a group that goes on. The group keeps
    /// its entry, without its name.</summary>
    internal LogPosition? Removed { get; init; }

    /// <summary>R20: a state of the group as of everything below the position has the members for which this is true,
    /// in views, checkpoints and history alike.</summary>
    internal bool IsBornBelow(LogPosition end) => Birth is not { } birth || birth < end;
}

/// <summary>The source of an object that <see cref="RuntimeHistory.ForkAsync(string, LogPosition, string,
/// CancellationToken)"/> made.</summary>
/// <param name="Source">The name that its source had then.</param>
/// <param name="Position">The object's first state is that of its source as of everything below.</param>
public sealed record ForkOrigin(string Source, LogPosition Position);
