using Tango;

namespace Salus.Log;

/// <summary>Faults of the log as callers of volumes read them.</summary>
internal static class LogFaults
{
    public static bool IsFault(Exception error) => error is (CorfuException or TangoException) and not VolumeException;

    /// <summary>An exception whose message says what is wrong with the log, and what an operator can do.</summary>
    public static VolumeException Told(Exception error) => new(VolumeFault.Unavailable, MessageOf(error), error);

    /// <summary>The message of <see cref="Told"/>.</summary>
    public static string MessageOf(Exception error)
    {
        for (var cause = error; cause is not null; cause = cause.InnerException)
        {
            switch (cause)
            {
                case TangoTrimmedException or LogTrimmedException:
                    return "The log is trimmed of history that this process has not read, and no checkpoint replaces "
                        + "it: open the connection anew while a node of Salus runs, or restore a backup of the log.";
                case CorfuDeniedException:
                    return $"The log refuses this process: {cause.Message}";
                case TangoPlaybackFailedException:
                    return $"This process can read the log no more, and must be restarted: {cause.Message}";
            }
        }

        return $"The log does not answer: see 'corfu status' for its nodes. {error.Message}";
    }
}
