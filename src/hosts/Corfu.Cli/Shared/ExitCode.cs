namespace Corfu.Cli;

/// <summary>Exit codes of <c>corfu</c>; every help text lists them.</summary>
internal static class ExitCode
{
    public const int Ok = 0;

    /// <summary>The command was understood and did not succeed.</summary>
    public const int Failed = 1;

    /// <summary>Wrong options or arguments: nothing was done.</summary>
    public const int Usage = 2;

    /// <summary>The position holds no data: unwritten, junk or trimmed.</summary>
    public const int NoData = 3;

    /// <summary>The cluster gave no answer in time.</summary>
    public const int TimedOut = 4;

    /// <summary>Interrupted from the keyboard.</summary>
    public const int Interrupted = 130;
}
