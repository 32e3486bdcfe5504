using Tango;
using Tango.Collections;

namespace TangoConsole1;

/// <summary>The state of the program. Every process that opens it sees the same, and it outlives all of them.</summary>
[TangoContext("TangoConsole1")]
public sealed partial class GreetingsContext : TangoContext
{
    public partial TangoCounter Runs { get; }

    public partial TangoDictionary<string, string> Greetings { get; }
}
