using Craq.Storage;

namespace Craq.Chains;

/// <summary>The state of an object as of one version: absent, in a dirty record, or in a clean slot.</summary>
/// <param name="Version">The object's version; of an absent one the version that deleted it, if it is known.</param>
/// <param name="Dirty">Null: the object is clean or absent.</param>
/// <param name="IsDirty">The version is not known to be committed.</param>
internal readonly record struct KeyState(
    bool IsFound, ObjectVersion Version, DirtyWrite? Dirty, ObjectSlot Slot, bool IsDirty)
{
    public uint Flags => Dirty?.Write.Flags ?? Slot.Flags;

    public long Expiry => Dirty?.Write.Expiry ?? Slot.Expiry;

    public int Length => Dirty is null ? Slot.Length : Dirty.Write.Value?.Length ?? 0;

    public static KeyState Absent(ObjectVersion version, bool isDirty) => new(false, version, null, default, isDirty);

    public static KeyState Of(DirtyWrite write) => new(!write.Write.IsDelete, write.Version, write, default, true);

    public static KeyState Of(in ObjectSlot slot) => new(true, slot.Version, null, slot, false);

    /// <summary>The object is there and reads as absent by this clock (C21).</summary>
    public bool IsExpired(long wall) => IsFound && Expiry > 0 && Expiry <= wall;

    public ObjectResult Missing(bool isDirty) => new(CraqStatus.NotFound, Version, isDirty, 0, 0, 0, default);

    public ObjectResult Result(ReadOnlyMemory<byte> value, bool isDirty) =>
        new(Status.Ok, Version, isDirty, Flags, Expiry, Length, value);
}
