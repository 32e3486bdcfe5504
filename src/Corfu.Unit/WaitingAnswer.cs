using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Unit;

/// <summary>An answer that may not be seen yet (R4), and where it goes.</summary>
internal readonly record struct WaitingAnswer(UnitAnswer Answer, Request Request, ReplyTo Reply);
