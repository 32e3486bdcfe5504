namespace Tango;

/// <summary>The object was opened for writing only: it has no view here, so it cannot be read, and mutators that read
/// it are refused (R16).</summary>
public sealed class TangoNotHostedException(string objectName)
    : TangoException($"Object '{objectName}' is opened for writing only and has no view in this runtime")
{
    public string ObjectName { get; } = objectName;
}
