namespace Tango;

/// <summary>
/// Apply failed with something else than the declared rejection, or met a record it does not know (R23). The object's
/// view stays as it was before that record and is no longer served by this runtime; other objects go on. A record that
/// cannot be read at all stops the objects of its entry, with the groups that they belong to. A runtime with code that
/// can apply the record can open it.
/// </summary>
public sealed class TangoObjectStoppedException(string objectName, ObjectId objectId, RecordVersion version,
    Exception innerException)
    : TangoException($"Object '{objectName}' ({objectId}) stopped at {version}: {innerException.Message}",
        innerException)
{
    public string ObjectName { get; } = objectName;

    public ObjectId ObjectId { get; } = objectId;

    /// <summary>The record that could not be applied.</summary>
    public RecordVersion Version { get; } = version;

    /// <summary>What a caller is told. A level that this code does not know says how to go on, and concerns more than
    /// one object.</summary>
    internal Exception Told => InnerException is TangoLevelException level ? level : this;
}
