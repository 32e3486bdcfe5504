using System.ComponentModel;

namespace Tango;

/// <summary>Receives the value of type <typeparamref name="T"/> that a mutator returned while it was applied.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public class ApplyResult<T> : ApplyResult
{
    public T? Value { get; internal set; }
}
