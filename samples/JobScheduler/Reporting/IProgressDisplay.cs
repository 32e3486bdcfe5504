namespace JobScheduler.Reporting;

/// <summary>Shows the run while it goes on.</summary>
public interface IProgressDisplay
{
    /// <summary>Reads <paramref name="snapshot"/> from time to time and shows it, until
    /// <paramref name="stop"/>.</summary>
    Task RunAsync(Func<ProgressSnapshot> snapshot, CancellationToken stop);
}
