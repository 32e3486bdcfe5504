namespace Tango;

/// <summary>Receives the value a mutator returned while it was applied; see <see cref="ApplyResult{T}"/>.</summary>
public abstract class ApplyResult
{
    private protected ApplyResult()
    {
    }
}
