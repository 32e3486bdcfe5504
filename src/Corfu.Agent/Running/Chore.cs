namespace Corfu.Agent;

/// <summary>Something long that an agent does in the background, one run at a time. Everything is guarded by the agent's gate.</summary>
internal sealed class Chore
{
    /// <summary>Of the run under way; null when there is none.</summary>
    public CancellationTokenSource? Stop { get; set; }

    public bool IsRunning => Stop is not null;

    public Task Running { get; set; } = Task.CompletedTask;

    /// <summary>When the run under way began, or the last one.</summary>
    public TimeSpan Began { get; set; }

    /// <summary>When the next run may begin.</summary>
    public TimeSpan NotBefore { get; set; }
}
