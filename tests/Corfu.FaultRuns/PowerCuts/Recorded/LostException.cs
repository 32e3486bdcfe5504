namespace Corfu.FaultRuns.PowerCuts.Recorded;

/// <summary>A disk state that must not be: the promise it breaks.</summary>
public sealed class LostException(string message) : Exception(message);
