namespace Corfu.Protocol;

/// <summary>The requests of an acceptor. An agent answers <see cref="Opcode.Latest"/> as well.</summary>
public static class LayoutMessages
{
    public static void AddTo(RequestTable table)
    {
        table.Add(Opcode.Prepare, PrepareRequest.Read);
        table.Add(Opcode.Accept, AcceptRequest.Read);
        table.Add(Opcode.Decided, DecidedRequest.Read);
        table.Add(Opcode.Latest, static (epoch, ref _) => new LatestRequest(epoch));
        table.Add(Opcode.ReadSlot, static (epoch, ref _) => new ReadSlotRequest(epoch));
        table.Add(Opcode.Watch, static (epoch, ref _) => new WatchRequest(epoch));
    }
}
