using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Services;

/// <summary>A client of the machine. It outlives the processes that send for it, and goes on at another one with what
/// is in doubt.</summary>
internal sealed class MachineUser(int id)
{
    public int Id => id;

    /// <summary>Null: none is open.</summary>
    public long? Session { get; set; }

    /// <summary>The newest command.</summary>
    public long Number { get; private set; }

    /// <summary>Whether the answer to the newest command is missing.</summary>
    public bool IsPending { get; private set; }

    /// <summary>Calls that have sent the newest command.</summary>
    public int Calls { get; private set; }

    /// <summary>The process that sends for the user; null: none does.</summary>
    public SimProcess? Sender { get; set; }

    /// <summary>The process that sent last.</summary>
    public SimProcess? Last { get; set; }

    public bool IsFree => Sender is not { Alive: true };

    /// <summary>The command to send: a new one, or the one whose answer is missing.</summary>
    public MachineCommand Next()
    {
        if (!IsPending) (Number, Calls) = (Number + 1, 0);
        IsPending = true;
        Calls++;
        return new MachineCommand(id, Number);
    }

    /// <summary>The command needs no answer any more, if it is still the newest.</summary>
    public void End(long number)
    {
        if (number == Number) IsPending = false;
    }
}
