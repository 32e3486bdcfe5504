namespace Tango;

/// <summary>A record names a mutator this program does not know: it was written by a newer version of the object's
/// code.</summary>
public sealed class TangoUnknownRecordException(string typeName, int mutator)
    : TangoException($"Object type '{typeName}' has no mutator number {mutator}; the record was written by other code.")
{
    public string TypeName { get; } = typeName;

    public int Mutator { get; } = mutator;
}
