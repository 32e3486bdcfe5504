namespace Tango;

/// <summary>The object was opened for writing only: it has no view here, so it cannot be read, and mutators that read
/// it are refused.</summary>
// A mutator that returns a value or may reject reads the object, which needs a view (R16).
public sealed class TangoNotHostedException(string objectName)
    : TangoException(
        $"Object '{objectName}' has no view in this runtime: it was opened for writing only, or is not open any more")
{
    public string ObjectName { get; } = objectName;
}
