namespace Corfu.Client;

/// <summary>One append that waits for its position.</summary>
internal sealed class TokenWaiter(ushort graceMilliseconds)
    : TaskCompletionSource<TokenGrant>(TaskCreationOptions.RunContinuationsAsynchronously)
{
    public ushort GraceMilliseconds { get; } = graceMilliseconds;
}
