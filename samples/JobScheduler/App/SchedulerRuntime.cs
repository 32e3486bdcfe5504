using Corfu;
using Tango;

namespace JobScheduler.App;

/// <summary>Makes the Tango runtimes of this sample.</summary>
internal static class SchedulerRuntime
{
    // A replica's starts must not queue behind the finishes it has under way.
    private const int AppendsInFlight = 4;

    public static TangoRuntime Create(ICorfuLog log, TimeProvider time) =>
        new(log, () => new StreamCursor(log), time, SystemEntropy.Instance,
            new TangoOptions { MaxAppendsInFlight = AppendsInFlight });
}
