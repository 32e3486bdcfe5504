namespace Tango;

/// <summary>
/// Apply failed with something else than the declared rejection, or met a record it does not know. The object is
/// no longer served by this runtime; other objects go on. An object whose Apply failed is played anew once, from its
/// checkpoint or the beginning, when it is used next; if Apply fails again, the object stays stopped. A record that
/// cannot be read at all stops the objects of its entry, with the groups that they belong to. A runtime with code that
/// can apply the record can open it.
/// </summary>
// Any exception but the declared rejection stops the object: its view may be half changed (R23).
public sealed class TangoObjectStoppedException : TangoException
{
    private TangoObjectStoppedException(string objectName, ObjectId objectId, RecordVersion version, bool wasRebuilt,
        Exception innerException)
        : base($"Object '{objectName}' ({objectId}) stopped at {version}"
            + $"{(wasRebuilt ? ", also when it was played anew" : "")}: {innerException.Message}", innerException)
    {
        (ObjectName, ObjectId, Version, WasRebuilt) = (objectName, objectId, version, wasRebuilt);
        // Code that does not know a record will not know it the next time. A checkpoint may be written meanwhile (R22).
        MayRebuild = innerException is TangoTrimmedException || (!wasRebuilt && innerException is not TangoException);
    }

    public string ObjectName { get; }

    public ObjectId ObjectId { get; }

    /// <summary>The record that could not be applied.</summary>
    public RecordVersion Version { get; }

    /// <summary>Whether the object stopped again when it was played anew.</summary>
    public bool WasRebuilt { get; }

    internal bool MayRebuild { get; }

    /// <summary>Exception that a caller is told. A level that this code does not know, or a trim, says how to go on.
    /// Both concern more than one object. A deletion is no failure.</summary>
    internal Exception Told =>
        InnerException is TangoLevelException or TangoTrimmedException or TangoObjectDeletedException
            ? InnerException
            : this;

    internal bool IsDeletion => InnerException is TangoObjectDeletedException;

    internal static TangoObjectStoppedException At(RecordVersion version, string name, ObjectId id, Exception reason) =>
        new(name, id, version, wasRebuilt: false, reason);

    internal TangoObjectStoppedException Again() =>
        new(ObjectName, ObjectId, Version, wasRebuilt: true, InnerException!);
}
