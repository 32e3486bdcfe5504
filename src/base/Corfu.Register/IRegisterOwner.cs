namespace Corfu.Register;

/// <summary>The owner of an acceptor's registers: knows what their values mean, and counts what the acceptor
/// does.</summary>
public interface IRegisterOwner
{
    /// <summary>A value as it was stored. The result has the bytes that the owner gives an equal value today; stored
    /// bytes may be of an earlier version.</summary>
    /// <param name="stored">Valid until the call returns.</param>
    /// <exception cref="MalformedDataException">The bytes are no value.</exception>
    RegisterValue ReadValue(ReadOnlyMemory<byte> stored);

    /// <summary>A batch of promises, votes and decisions became durable.</summary>
    void OnCommitted();

    /// <summary>The disk has failed: the acceptor refuses every request from now on.</summary>
    void OnFailed(Exception reason);
}

/// <summary>Takes the answer to one request.</summary>
public interface IRegisterCaller
{
    /// <summary>Called once.</summary>
    void Answer(RegisterAnswer answer);

    /// <summary>Whether both asked over one connection.</summary>
    bool IsSameConnection(IRegisterCaller other);
}
