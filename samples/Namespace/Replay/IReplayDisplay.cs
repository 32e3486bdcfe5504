namespace NamespaceSample.Replay;

/// <summary>Shows a replay while it goes on.</summary>
internal interface IReplayDisplay
{
    void Progress(int applied);

    void Killed(int number, string process, int applied);

    /// <summary>The verifier opened a log that began at this position.</summary>
    void Opened(long logStart);

    void Difference(string difference);
}
