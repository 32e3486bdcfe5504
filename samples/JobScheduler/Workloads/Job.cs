namespace JobScheduler.Workloads;

/// <summary>A rigid job: it needs <see cref="Nodes"/> nodes at once for <see cref="RunSeconds"/> seconds. Times are
/// virtual seconds.</summary>
public sealed record Job(long Number, long SubmitSeconds, long RunSeconds, int Nodes, int User);
