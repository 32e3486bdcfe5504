namespace Corfu.Integration.Tests.Support;

/// <summary>The line that a node prints once it serves.</summary>
internal sealed class ReadyLine : StringWriter
{
    private readonly TaskCompletionSource<string> _line = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public Task<string> Line => _line.Task;

    public override Task WriteLineAsync(string? value)
    {
        _line.TrySetResult(value!);
        return Task.CompletedTask;
    }
}
