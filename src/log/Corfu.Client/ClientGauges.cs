namespace Corfu.Client;

/// <summary>State of the clients of this process, read when a collector asks.</summary>
internal static class ClientGauges
{
    public static readonly Observed<CorfuClient> Clients = new();

    static ClientGauges()
    {
        var meter = ClientTelemetry.Meter;
        Clients.Sum(meter, "corfu.client.append.in_flight", "{append}", "Appends under way, waiting ones left out.",
            static client => client.AppendsInFlight);
        Clients.Sum(meter, "corfu.client.append.waiting", "{append}", "Appends that wait for others to end.",
            static client => client.AppendsWaiting);
        Clients.Highest(meter, "corfu.client.epoch", "{epoch}", "Newest epoch that a client of the process knows.",
            static client => client.Projection.Epoch.Value);
    }
}
