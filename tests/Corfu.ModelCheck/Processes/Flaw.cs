namespace Corfu.ModelCheck.Processes;

/// <summary>Known mistakes that the model's processes can make: the checker must find each of them, or it proves
/// nothing.</summary>
public enum Flaw
{
    None,

    /// <summary>A reconfigurer is content with the seal of any replica that stays, instead of the first survivor's
    /// (R13).</summary>
    SealAnyReplica,

    /// <summary>A rebuild copies what its source holds and leaves out the holes (R15).</summary>
    CopyWithoutFilling,

    /// <summary>An append is acknowledged when the head has it.</summary>
    AckAtHead,

    /// <summary>Junk goes to the tail first (R10).</summary>
    FillFromTail,

    /// <summary>A reader takes the head's word (R11).</summary>
    ReadAtHead,

    /// <summary>A writer goes on with its entry after its epoch, instead of asking what the first replica holds
    /// (R9).</summary>
    WriteAfterEpoch,

    /// <summary>A resolver fills in a later epoch without looking whether the position lies below its start
    /// (R9).</summary>
    ResolveAboveStart,

    /// <summary>Whatever was written is taken for one's own (R9).</summary>
    AlreadyWrittenIsMine,

    /// <summary>The new epoch starts where the old one did (R13).</summary>
    StartNotRaised,

    /// <summary>A proposer ignores what was accepted before (R12).</summary>
    OwnValueFirst,

    /// <summary>A single acceptor's answer is enough (R12).</summary>
    OneAcceptorIsEnough,

    /// <summary>A check does not confirm its epoch.</summary>
    UnconfirmedCheck,

    /// <summary>A rebuild copies what the head holds, and gets ahead of the replicas between (R15).</summary>
    CopyPastFullReplicas,
}
