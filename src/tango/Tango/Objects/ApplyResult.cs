using System.ComponentModel;

namespace Tango;

/// <summary>Receives the value a mutator returned while it was applied; see <see cref="ApplyResult{T}"/>.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public abstract class ApplyResult
{
    private protected ApplyResult()
    {
    }
}
