using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>What one try of an operation came to: a value, or the status for which it has to be tried again.</summary>
internal readonly record struct Attempt<T>(bool IsDone, T Value, Status Status)
{
    public static implicit operator Attempt<T>(T value) => new(true, value, Status.Ok);

    public static implicit operator Attempt<T>(Status status) => new(false, default!, status);
}
