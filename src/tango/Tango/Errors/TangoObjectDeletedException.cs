namespace Tango;

/// <summary>The object was deleted, alone or with its group. Its name may be another object's by now; its id is not
/// given again.</summary>
public sealed class TangoObjectDeletedException(string objectName, ObjectId objectId)
    : TangoException($"Object '{objectName}' ({objectId}) was deleted")
{
    public string ObjectName { get; } = objectName;

    public ObjectId ObjectId { get; } = objectId;
}
